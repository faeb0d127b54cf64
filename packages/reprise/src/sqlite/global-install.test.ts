import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { isGlobalInstall } from './global-install.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-install-'))
afterAll(() => rmSync(directory, { recursive: true }))

test('a library in a project is told from one in the folder of global packages', () => {
  const project = path.join(directory, 'project')
  mkdirSync(project)
  writeFileSync(path.join(project, 'package.json'), '{}')
  expect(isGlobalInstall(path.join(project, 'node_modules/reprise/dist/sqlite.js'))).toBe(false)
  expect(isGlobalInstall(path.join(project, 'src/sqlite.js'))).toBe(false)
  const nested = 'lib/node_modules/@reprise/cli/node_modules/reprise/dist/sqlite.js'
  expect(isGlobalInstall(path.join(directory, nested))).toBe(true)
  // A package of the global folder has its own `package.json`, which makes no project of that folder.
  const cli = path.join(directory, 'lib/node_modules/@reprise/cli')
  mkdirSync(cli, { recursive: true })
  writeFileSync(path.join(cli, 'package.json'), '{}')
  expect(isGlobalInstall(path.join(directory, nested))).toBe(true)
})
