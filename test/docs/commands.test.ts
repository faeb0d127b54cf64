/** The page of commands is what the table of commands says. */
import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { ROOT } from './fences.js'

test('docs/commands.md is what scripts/command-reference.mjs makes of the table', () => {
  const check = ['scripts/command-reference.mjs', '--check']
  const { stderr, status } = spawnSync(process.execPath, check, { cwd: ROOT, encoding: 'utf8' })
  expect(status, stderr).toBe(0)
})
