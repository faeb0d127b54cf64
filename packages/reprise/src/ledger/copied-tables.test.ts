import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  BYTES_AT_ONCE,
  COPIED_TABLES,
  type CopiedTable,
  MOST_ROW_BYTES,
  placeColumns,
  portionsOf,
  ROWS_AT_ONCE,
} from './copied-tables.js'

const tableOf = (name: string): CopiedTable => COPIED_TABLES.find((table) => table.name === name) as CopiedTable
const TASKS = tableOf('tasks')

test('rows are read in portions of few rows and few bytes, a long one by itself, none left out', () => {
  const size = fc.oneof(fc.nat(2000), fc.nat(3 * BYTES_AT_ONCE))
  fc.assert(
    fc.property(fc.array(size, { maxLength: 1200, size: 'max' }), (sizes) => {
      let at = 0
      for (const count of portionsOf(
        TASKS,
        sizes.map((bytes) => ({ bytes })),
      )) {
        const some = sizes.slice(at, at + count)
        at += count
        expect(some.length).toBeGreaterThan(0)
        expect(some.length).toBeLessThanOrEqual(ROWS_AT_ONCE)
        if (some.length > 1) expect(some.reduce((sum, bytes) => sum + bytes)).toBeLessThanOrEqual(BYTES_AT_ONCE)
      }
      expect(at).toBe(sizes.length)
    }),
    { numRuns: 30 },
  )
  expect(
    portionsOf(
      TASKS,
      Array.from({ length: 501 }, () => ({ bytes: 10 })),
    ),
  ).toEqual([500, 1])
})

test('a row that no store takes is refused with its task, its size and what to do', () => {
  const fits = { pk: 7, scope_kind: 'run', scope: 'r1', id: 'work', bytes: MOST_ROW_BYTES }
  expect(portionsOf(TASKS, [fits])).toEqual([1])
  expect(() => portionsOf(TASKS, [fits, { ...fits, bytes: MOST_ROW_BYTES + 1 }])).toThrow(
    /^Task r1\/work has 531 MB, and 530 MB at most .*: keep such a value in a file.*`reprise clean`/,
  )
  const policy = { hash: 'abc', bytes: MOST_ROW_BYTES + 1 }
  expect(() => portionsOf(tableOf('policies'), [policy])).toThrow(/^What policies has of abc has 531 MB/)
})

test('the place of a row has its key, and the task where there is one', () => {
  expect(placeColumns(TASKS)).toEqual(['pk', 'scope_kind', 'scope', 'id'])
  expect(placeColumns(tableOf('dead'))).toEqual(['scope_kind', 'scope', 'id', 'generation'])
  expect(placeColumns(tableOf('runs'))).toEqual(['id'])
})
