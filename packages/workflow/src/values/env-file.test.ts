import { expect, it } from 'vitest'
import { parseEnvFile } from './env-file.js'

const variablesOf = (text: string): object => {
  const { variables, problems } = parseEnvFile(text)
  expect(problems).toEqual([])
  return { ...variables }
}

it('takes what stands behind the sign for a comment where a space and # begin it, also without a value', () => {
  expect(variablesOf('A=   # a comment\nB= #\nexport C =\t# a comment')).toEqual({ A: '', B: '', C: '' })
  expect(variablesOf('A=\nB=   \nC=1 # a comment')).toEqual({ A: '', B: '', C: '1' })
})

it('keeps a # that nothing stands before, or no space', () => {
  expect(variablesOf('A=#1\nB=a#b\nC=  a#b # c\nD="# a"')).toEqual({ A: '#1', B: 'a#b', C: 'a#b', D: '# a' })
})
