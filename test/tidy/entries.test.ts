/** Who uses which entry of a package: pages, examples and users' code only those that are stable. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { findFences } from '../docs/fences.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const textOf = (file: string): string => readFileSync(path.join(root, file), 'utf8')
const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
  .toString()
  .split('\0')
  .filter((file) => /\.(md|[mc]?[jt]s|yaml)$/.test(file))

interface Manifest {
  readonly name: string
  readonly exports?: Readonly<Record<string, string | { readonly types?: string }>>
}

const entries = ['reprise', 'workflow', 'jobs', 'dashboard', 'cli'].flatMap((directory) => {
  const { name, exports = {} } = JSON.parse(textOf(`packages/${directory}/package.json`)) as Manifest
  return Object.entries(exports)
    .filter(([, target]) => typeof target === 'object')
    .map(([subpath]) => name + subpath.slice(1))
})

const INTERNAL = /\b(?:from|import)\s*\(?\s*['"](?:reprise|@reprise\/\w+)\/internal(?:\/\w+)?['"]/

test('an internal entry is imported by our own packages and tests, and by no page or example', () => {
  const users = files.filter((file) => INTERNAL.test(textOf(file)))
  const isOwn = (file: string): boolean =>
    /^(packages\/(workflow|jobs|dashboard|cli)\/src|packages\/\w+\/api|test|bench|scripts)\//.test(file)
  expect(users.filter((file) => !isOwn(file))).toEqual([])
  // Else the pattern finds nothing any more.
  expect(users).toContain('packages/workflow/src/operate/store-care.ts')
})

test('the page of entries lists every entry, and says of internal ones that they are not stable', () => {
  const rows = [...textOf('docs/entries.md').matchAll(/^\| (`[^|]+`) \| [^|]+ \| (yes|no) \|$/gm)]
  const listed = rows.flatMap(([, names = '', stable]) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => [name, stable]),
  )
  expect(listed.map(([name]) => name).toSorted()).toEqual(entries.toSorted())
  expect(listed.filter(([, stable]) => stable === 'no').map(([name]) => name)).toEqual(
    entries.filter((entry) => entry.includes('/internal')),
  )
})

test('the page of the library on npm lists its stable entries', () => {
  const listed = [...textOf('packages/reprise/README.md').matchAll(/^\| `(reprise[^`]*)` \|/gm)].map(([, name]) => name)
  expect(listed.toSorted()).toEqual(
    entries.filter((entry) => /^reprise(\/|$)/.test(entry) && !entry.includes('/internal')).toSorted(),
  )
})

test('a program that brings its own driver is shown, and executed', () => {
  const page = 'docs/writing-a-driver.md'
  const programs = findFences(textOf(page), page).filter(
    ({ language, flags }) => language === 'ts' && flags.length === 0,
  )
  const [driver] = programs
  expect(driver?.code).toMatch(/from 'reprise\/core'/)
  for (const call of ['admit(', 'decide(', 'advance(', 'snapshot(']) expect(driver?.code).toContain(call)
})
