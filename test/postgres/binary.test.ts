/** What is put into an array comes out of a server as it was: every text, every number, and nothing. */
import fc from 'fast-check'
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { float8Array, int8Array, textArray } from '../../packages/reprise/src/postgres/binary.js'
import { testDatabase } from './shared-server.js'

const database = await testDatabase()
const client = new pg.Client({ connectionString: database.url })
await client.connect()
afterAll(async () => {
  await client.end()
  await database.drop()
})

/** As the statements take them apart. */
async function back(array: Buffer, type: string): Promise<unknown[]> {
  const { rows } = await client.query(
    `SELECT v, array_length($1::${type}[], 1) AS length FROM unnest($1::${type}[]) WITH ORDINALITY AS u(v, nth) ORDER BY nth`,
    [array],
  )
  for (const { length } of rows as { length: number }[]) expect(length).toBe(rows.length)
  return rows.map(({ v }: { v: unknown }) => v)
}

const LENGTHS = { maxLength: 40 }
/** Every character that PostgreSQL has. */
const texts = fc.string({ unit: 'binary', maxLength: 60 }).map((text) => text.replaceAll('\0', '0'))
const awkward = fc.constantFrom(
  '',
  ' ',
  'NULL',
  '{}',
  '{a,b}',
  '"',
  '\\',
  "'",
  '\n',
  '\u{1F600}',
  'é',
  '\uFFFF',
  'x'.repeat(70_000),
)
const whole = fc.oneof(
  fc.maxSafeInteger(),
  fc.constantFrom(0, 1, -1, 2 ** 31, -(2 ** 31), 2 ** 32, -(2 ** 32), 2 ** 32 - 1, 1 - 2 ** 32),
  fc.constantFrom(Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER),
)

describe('an array', () => {
  it('of texts', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(texts, awkward, fc.constant(null)), LENGTHS), async (values) => {
        expect(await back(textArray(values), 'text')).toEqual(values)
      }),
      { numRuns: 60 },
    )
  })

  it('of numbers', async () => {
    const numbers = fc.oneof(fc.double(), fc.constantFrom(5e-324, 1.7976931348623157e308, -0, NaN, Infinity, -Infinity))
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(numbers), LENGTHS), async (values) => {
        expect(await back(float8Array(values), 'float8')).toEqual(values)
      }),
      { numRuns: 60 },
    )
  })

  it('of whole numbers', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(whole, LENGTHS), async (values) => {
        expect((await back(int8Array(values), 'int8')).map(Number)).toEqual(values)
      }),
      { numRuns: 60 },
    )
  })

  it.each([
    ['text', textArray([])],
    ['float8', float8Array([])],
    ['int8', int8Array([])],
  ])('of %s may be empty', async (type, array) => {
    expect(await back(array, type)).toEqual([])
    const { rows } = await client.query(`SELECT $1::${type}[] = '{}' AS is_so`, [array])
    expect(rows).toEqual([{ is_so: true }])
  })

  it('of many columns keeps its rows together', async () => {
    const row = fc.record({ name: fc.option(texts), time: fc.option(fc.double({ noNaN: true })), count: whole })
    await fc.assert(
      fc.asyncProperty(fc.array(row, LENGTHS), async (rows) => {
        const values = [
          textArray(rows.map(({ name }) => name)),
          float8Array(rows.map(({ time }) => time)),
          int8Array(rows.map(({ count }) => count)),
        ]
        const sql = `SELECT name, time, count FROM unnest($1::text[], $2::float8[], $3::int8[])
          WITH ORDINALITY AS u(name, time, count, nth) ORDER BY nth`
        const answer = await client.query(sql, values)
        expect(answer.rows.map((found) => ({ ...found, count: Number(found.count) }))).toEqual(rows)
      }),
      { numRuns: 40 },
    )
  })

  it('with a character that PostgreSQL has not is refused, not cut', async () => {
    await expect(back(textArray(['a\0b']), 'text')).rejects.toMatchObject({ code: '22021' })
  })
})
