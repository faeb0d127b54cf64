import { expect, it } from 'vitest'
import { loadReaders } from './readers.js'

const isKnown = (name: string): boolean => name === 'items'

it('templates tell their references, or what is wrong and where', async () => {
  const { template } = await loadReaders(isKnown, '')
  expect(template.referencesIn('${items} ${steps.a.exit_code} $${no}')).toEqual({
    names: ['items', 'steps.a.exit_code'],
  })
  expect(template.referencesIn('ab ${items').problem).toMatch(/no closing brace.* \(at character 11\)$/)
})

it('shell text tells what is ours in it', async () => {
  const { shell } = await loadReaders(isKnown, '')
  expect(shell.referencesIn('echo ${items} ${HOME} ${env.X} $(( 1 + ${y} ))')).toEqual({ names: ['items', 'env.X'] })
  expect(shell.referencesIn('echo $((${items}))').problem).toMatch(/arithmetic.* \(at character 9\)$/)
})

it('expressions tell what they name', async () => {
  const readers = await loadReaders(isKnown, 'when: items.count > 0')
  expect(readers.checkExpression('items.count > 0 && steps.a.exit_code == 0')).toEqual({
    names: ['items.count', 'steps.a.exit_code'],
  })
  expect(readers.checkExpression('items.count >')).toEqual({
    names: [],
    problem: 'Unexpected token: EOF (at character 14)',
  })
})
