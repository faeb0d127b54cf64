/**
 * What programs can rely on, entry by entry: `packages/NAME/api/ENTRY.d.ts` is what `npm run api` would write. A change of
 * an exported name or type is made with its snapshot, so that it is seen in review. Needs a build.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseAst } from 'rolldown/parseAst'
import { expect, test } from 'vitest'
import { isInternal, snapshots } from '../../scripts/api.mjs'
import { PACKAGES, root } from './packed.js'

const all = snapshots()
const written = (file: string): string => {
  const full = path.join(root, 'packages', file)
  return existsSync(full) ? readFileSync(full, 'utf8') : ''
}

/** The names in the header of a snapshot. */
function namesIn(text: string): string[] {
  const header = text.slice(0, text.indexOf('\n\n'))
  return [...header.matchAll(/^\/\/ (?:values:| {2}|types:)(.*)$/gm)].flatMap(
    ([, names = '']) => names.match(/\w+/g) ?? [],
  )
}

/** What changed, in one line, and what to type. */
function difference(file: string, before: string, after: string): string {
  const [old, now] = [new Set(namesIn(before)), new Set(namesIn(after))]
  const added = [...now].filter((name) => !old.has(name))
  const removed = [...old].filter((name) => !now.has(name))
  const words = [
    ...(added.length > 0 ? [`added: ${added.join(', ')}`] : []),
    ...(removed.length > 0 ? [`removed: ${removed.join(', ')}`] : []),
  ]
  const what = words.length === 0 ? 'the same names, other declarations' : words.join('; ')
  return `packages/${file} is not what is built (${what}). Run \`npm run api\`, and commit the difference if it is meant.`
}

test.each(all)('$entry exports what $file says', ({ file, text }) => {
  const before = written(file)
  expect(before === text, difference(file, before, text)).toBe(true)
})

test('every snapshot belongs to an entry', () => {
  const files = PACKAGES.filter((name) => existsSync(path.join(root, 'packages', name, 'api'))).flatMap((name) =>
    readdirSync(path.join(root, 'packages', name, 'api')).map((file) => `${name}/api/${file}`),
  )
  expect(files.toSorted()).toEqual(all.map(({ file }) => file).toSorted())
})

test('a snapshot is made of declarations, and names no path of a machine', () => {
  for (const { text, file } of all) {
    expect(() => parseAst(text, { lang: 'dts' }), file).not.toThrow()
    expect(text, file).not.toContain(root)
  }
})

test('a name is exported by one entry, so that there is one way to import it', () => {
  const entries = new Map<string, string[]>()
  for (const { entry, values, types } of all) {
    for (const name of [...values, ...types]) entries.set(name, [...(entries.get(name) ?? []), entry])
  }
  const twice = [...entries]
    .filter(([, found]) => found.length > 1)
    .map(([name, found]) => `${name}: ${found.join(', ')}`)
  // `retry` is there in two sizes. `LedgerFault`: the fault that a plan of `faultyLedger` injects, and one that `doctor` finds.
  expect(twice.toSorted()).toEqual(['LedgerFault: reprise/testing, reprise/internal', 'retry: reprise, reprise/slim'])
})

test('the number of names that programs can rely on does not grow unnoticed', () => {
  const count = ({ values, types }: (typeof all)[number]): number => values.length + types.length
  console.log(all.map((one) => `${one.entry}: ${count(one)} names`).join('\n'))
  const sum = (entries: typeof all): number => entries.reduce((total, one) => total + count(one), 0)
  expect(sum(all.filter(({ entry }) => !isInternal(entry)))).toBeLessThanOrEqual(313)
})

test('a difference says which names came and went, and what to type', () => {
  const before = '// reprise: 3 names\n//\n// values:\n//   a, b,\n//\n// types:\n//   C,\n\nexport …'
  const after = '// reprise: 3 names\n//\n// values:\n//   a,\n//   d,\n//\n// types:\n//   C,\n\nexport …'
  expect(difference('x/api/index.d.ts', before, after)).toBe(
    'packages/x/api/index.d.ts is not what is built (added: d; removed: b). Run `npm run api`, and commit the difference if it is meant.',
  )
  expect(difference('x/api/index.d.ts', before, `${before}!`)).toContain('the same names, other declarations')
})
