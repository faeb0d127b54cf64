import { expect, test } from 'vitest'
import { explainSpawnError } from './spawn-error.js'

const missing = Object.assign(new Error('spawn'), { code: 'ENOENT' })
const messageOf = (...argv: string[]): string =>
  explainSpawnError({ argv, env: { PATH: '/bin' }, cwd: process.cwd() }, missing).message

test('a program that is a whole line is answered with the shell that such a line needs', () => {
  expect(messageOf('echo hi && false')).toBe(
    "echo hi && false: no such program in PATH (a line with arguments or operators needs a shell: sh -c '…')",
  )
})

test('a program with arguments, or of one word, is only missing', () => {
  expect(messageOf('nosuch')).toBe('nosuch: no such program in PATH')
  expect(messageOf('no such', 'a')).toBe('no such: no such program in PATH')
})
