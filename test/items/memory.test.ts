/**
 * Point 18 of map/reduce: inputs are read as a stream, 1 000 000 items within 200 MB. Here 200 000 items, which are as many
 * bytes as that; `REPRISE_TEST_ITEMS=1000000` takes the million, and prints time and memory.
 */
import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { InputFormat, ItemSelection, MapInput } from '../../packages/workflow/src/plan/map-plan.js'
import { type BundledProgram, bundleProgram } from '../bundled-program.js'
import { ALL, directoryOf } from './items-of.js'

const COUNT = Number(process.env['REPRISE_TEST_ITEMS'] ?? 200_000)
const MAX_MB = 200
const directory = directoryOf({})
let program: BundledProgram

beforeAll(async () => {
  program = await bundleProgram(new URL('count-items.ts', import.meta.url))
})
afterAll(() => {
  program.remove()
  rmSync(directory, { recursive: true })
})

interface Counted {
  readonly count: number
  readonly last: string
  readonly ms: number
  readonly peakMb: number
}

function count(input: MapInput, selection: Partial<ItemSelection> = {}): Counted {
  const map = JSON.stringify({ input, selection: { ...ALL, ...selection } })
  const counted = JSON.parse(execFileSync(process.execPath, [program.file, map, directory]).toString()) as Counted
  if (process.env['REPRISE_TEST_ITEMS'] !== undefined)
    console.log(`${input.kind} ${JSON.stringify(selection)}: ${JSON.stringify(counted)}`)
  return counted
}

/** A kilobyte each: 200 000 of them are as large as the limit. */
function writeItems(
  name: string,
  around: readonly [string, string, string],
  itemOf: (index: number) => string,
): MapInput {
  const file = openSync(path.join(directory, name), 'w')
  const [before, between, after] = around
  writeSync(file, before)
  for (let index = 0; index < COUNT; index += 1000) {
    const items = Array.from({ length: Math.min(1000, COUNT - index) }, (_, at) => itemOf(index + at))
    writeSync(file, (index === 0 ? '' : between) + items.join(between))
  }
  writeSync(file, after)
  closeSync(file)
  return { kind: 'file', path: name, format: null }
}

const note = 'x'.repeat(1000)
const json = (index: number): string => JSON.stringify({ id: `item-${index}`, size: index, tags: ['a', 'b'], note })
const lastId = `${String(COUNT - 1).padStart(7, '0')}.item-${COUNT - 1}`

it.each([
  [
    'json',
    ['{"head": {"n": 1}, "data": {"rows": [', ',\n', ']}, "tail": [1, 2]}'],
    json,
    { jsonPath: '$.data.rows[*]' },
  ],
  ['ndjson', ['', '\n', '\n'], json, {}],
  ['csv', ['id,size,note\n', '\n', '\n'], (index: number) => `item-${index},${index},"${note}"`, {}],
  ['lines', ['', '\n', '\n'], (index: number) => `item-${index}`, {}],
  ['ndjson', ['', '\n', '\n'], json, { filter: 'item.size >= 0', distinct: 'item.id' }],
] as const)(
  'an input of %s is read as a stream',
  (format: InputFormat, around, itemOf, selection) => {
    const input = writeItems(`items.${format === 'lines' ? 'txt' : format}`, around, itemOf)
    const counted = count(input, selection)
    rmSync(path.join(directory, (input as { path: string }).path))
    expect(counted).toMatchObject({ count: COUNT, last: lastId })
    // What `distinct` has seen is kept.
    expect(counted.peakMb).toBeLessThan('distinct' in selection ? 1.5 * MAX_MB : MAX_MB)
  },
  300_000,
)

it('a range and a product are made one by one', () => {
  expect(count({ kind: 'range', from: 1, to: COUNT, step: 1 })).toMatchObject({ count: COUNT })
  const lists = [Array.from({ length: 1000 }, (_, index) => index), Array.from({ length: COUNT / 1000 }, () => 'x')]
  const counted = count({ kind: 'product', lists })
  expect(counted.count).toBe(COUNT)
  expect(counted.peakMb).toBeLessThan(MAX_MB)
})

it('a glob over many files keeps the names of one directory', () => {
  const files = COUNT / 100
  for (let index = 0; index < files; index++) {
    if (index % 1000 === 0) mkdirSync(path.join(directory, `many/${index / 1000}`), { recursive: true })
    writeFileSync(path.join(directory, `many/${Math.floor(index / 1000)}/${index}.txt`), '')
  }
  const counted = count({ kind: 'glob', patterns: ['many/**/*.txt'] })
  expect(counted.count).toBe(files)
  expect(counted.peakMb).toBeLessThan(MAX_MB)
})

it.runIf(COUNT >= 1_000_000)('more than ten million items are refused', () => {
  const counted = count({ kind: 'range', from: 1, to: 10_000_001, step: 1 })
  expect(counted.count).toBe(10_000_000)
  expect(counted.last).toContain('range: the input has more than 10000000 items')
})

it.runIf(COUNT >= 1_000_000)('a document that is larger than 256 MiB is refused with the way out', () => {
  const input = writeItems('large.json', ['[', ',', ']'], json)
  const counted = count(input, { jsonPath: '$[?@.size > 5]' })
  expect(counted.last).toContain('large.json: it is larger than 256 MiB, and this `json_path` needs the whole document')
  expect(count(input, { sortBy: [{ expression: 'item.size', isDescending: false }] }).last).toContain(
    'large.json: `sort_by` needs all items in memory, and they are larger than 256 MiB',
  )
})
