import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { repriseVersion, UNKNOWN_VERSION, versionOf } from './reprise-version.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-version-'))
afterAll(() => rmSync(directory, { recursive: true }))

/** A program in a directory of its own, below the manifest of a package. */
function program(name: string, code: string, manifest: string | undefined): string {
  const file = path.join(directory, name, 'dist/main.js')
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, code)
  if (manifest !== undefined) writeFileSync(path.join(directory, name, 'package.json'), manifest)
  return file
}

const urlOf = (file: string): string => pathToFileURL(file).href

test('code of our packages has the version of their manifest', () => {
  const file = program('ours', 'code', '{"name": "@reprise/workflow", "version": "1.2.3"}')
  expect(versionOf(urlOf(file))).toBe('1.2.3')
  expect(repriseVersion()).toMatch(/^\d+\.\d+\.\d+/)
})

test('programs that have taken the package in are compared by their code, whatever manifest is beside them', () => {
  const app = '{"name": "app", "version": "1.2.3"}'
  const [one, copy, other] = [program('a', 'code', app), program('b', 'code', undefined), program('c', 'more', app)]
  const versions = [one, copy, other].map((file) => versionOf(urlOf(file)))
  expect(versions[0]).toMatch(/^code-[0-9a-f]{12}$/)
  expect(versions[1]).toBe(versions[0])
  expect(versions[2]).not.toBe(versions[0])
  // In the format of CommonJS the main program is all that is known.
  expect(versionOf(copy)).toBe(versions[0])
  expect(versionOf(urlOf(program('d', 'code', 'not JSON')))).toBe(versions[0])
})

test('code that cannot be read has no version', () => {
  expect(versionOf(path.join(directory, 'missing.js'))).toBe(UNKNOWN_VERSION)
  expect(versionOf('')).toBe(UNKNOWN_VERSION)
})
