import { expect, test } from 'vitest'
import type { SqlRow } from '../rows.js'
import { Conditions, type Reading, readLater, readNow, readRows, type SqlQuery, writtenFor } from './sql-reading.js'

function* twice(): Reading<number> {
  const [first] = yield* readRows('SELECT ? AS n', [1])
  const [second] = yield* readRows('SELECT ? AS n', [(first?.['n'] as number) + 1])
  return second?.['n'] as number
}

test('a reading gives the same answer whether its rows come at once or later', async () => {
  const answer = ({ values: [n = null] }: SqlQuery): SqlRow[] => [{ n }]
  expect(readNow(twice(), answer)).toBe(2)
  expect(await readLater(twice(), async (query) => answer(query))).toBe(2)
})

test('a query is written with the names and marks of its store', () => {
  const query = { text: 'SELECT 1 FROM {tasks} t JOIN {attempts} a WHERE a.x = ? AND t.y = ?', values: [] }
  const written = writtenFor(
    query,
    (table) => `"s".${table}`,
    (position) => `$${position}`,
  )
  expect(written).toBe('SELECT 1 FROM "s".tasks t JOIN "s".attempts a WHERE a.x = $1 AND t.y = $2')
})

test('conditions are joined in order, and those without a value are left out', () => {
  const conditions = new Conditions().when('a = ?', 1).when('b = ?', undefined).add('c IN (?, ?)', 2, 3)
  expect([conditions.where, conditions.values]).toEqual(['WHERE a = ? AND c IN (?, ?)', [1, 2, 3]])
  expect(new Conditions().where).toBe('')
})
