/** The references are what the sources say: a field, word, error, event or metric that changes changes the page. */
import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { ROOT } from './fences.js'

test.each([
  ['packages/reprise/src/core/policy.ts', 'scripts/hover-docs.mjs'],
  ['docs/reference.md', 'scripts/reference.mjs'],
  ['docs/workflow-reference.md', 'scripts/workflow-reference.mjs'],
  ['docs/design/files.md', 'scripts/file-tables.mjs'],
])('%s is what %s makes of the sources', (_, script) => {
  const { stderr, status } = spawnSync(process.execPath, [script, '--check'], { cwd: ROOT, encoding: 'utf8' })
  expect(status, stderr).toBe(0)
})
