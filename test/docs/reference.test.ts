/** The reference is what the sources say: a field, word, error, event or metric that changes changes the page. */
import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { ROOT } from './fences.js'

test('docs/reference.md is what scripts/reference.mjs makes of the sources', () => {
  const check = ['scripts/reference.mjs', '--check']
  const { stderr, status } = spawnSync(process.execPath, check, { cwd: ROOT, encoding: 'utf8' })
  expect(status, stderr).toBe(0)
})
