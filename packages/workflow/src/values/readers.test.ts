import { expect, it } from 'vitest'
import { loadReaders } from './readers.js'

const isKnown = (name: string): boolean => name === 'items'

it('templates tell their references, or what is wrong and where', async () => {
  const { template } = await loadReaders(isKnown, '')
  expect(template.referencesIn('${items} ${steps.a.exit_code} $${no}')).toEqual({
    names: ['items', 'steps.a.exit_code'],
  })
  expect(template.referencesIn('ab ${items').problem).toMatchObject({
    message: expect.stringMatching(/no closing brace/) as string,
    offset: 10,
  })
})

it('shell text tells what is ours in it', async () => {
  const { shell } = await loadReaders(isKnown, '')
  expect(shell.referencesIn('echo ${items} ${HOME} ${env.X} $(( 1 + ${y} ))')).toMatchObject({
    names: ['items', 'env.X'],
  })
  expect(shell.referencesIn('echo $((${items}))').problem).toMatchObject({
    message: expect.stringMatching(/arithmetic/) as string,
    offset: 8,
  })
})

it('expressions tell what they name', async () => {
  const readers = await loadReaders(isKnown, 'when: items.count > 0')
  expect(readers.checkExpression('items.count > 0 && steps.a.exit_code == 0')).toEqual({
    names: ['items.count', 'steps.a.exit_code'],
    numeric: ['steps.a.exit_code'],
  })
  expect(readers.checkExpression('items.count >')).toEqual({
    names: [],
    problem: { message: 'the expression ends where a value is expected', offset: 13 },
  })
})

it.each([
  ['echo ${itmes} "${itmes}" ${HOME}', ['itmes', 'HOME']],
  ['for item in a b; do echo ${item}; done', []],
  ['item=1; echo ${item}', []],
  ['read -r item && echo ${item}', []],
  ['echo ${item:-1} ${item}', []],
  ['. ./settings; echo ${item}', []],
  ['source settings; echo ${item}', []],
  ["node -e 'console.log(`${item}`)'", []],
  ["cat <<'END'\n${item}\nEND\n", []],
  ['echo $item $${item} ${item%.txt} ${#item} ${a.b}', []],
  ['echo "${item}', []],
  ['echo $(ls "${dir}") ${items}', ['dir', 'items']],
])('of the shell text %j the names that nothing in it sets are %j', async (text, names) => {
  const { shell } = await loadReaders(isKnown, '')
  expect(shell.referencesIn(text).unset ?? []).toEqual(names)
})
