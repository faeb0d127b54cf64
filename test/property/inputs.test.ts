/** Inputs of maps: what was written is read, wherever the pieces are cut, and selection is what its fields say. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from 'reprise/durable'
import { valuesOf, valuesOfText } from '../items/items-of.js'

/** The bytes of a text, cut at random places, also within a character. */
const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 6 })
function piecesAt(text: string, places: readonly number[]): Uint8Array[] {
  const bytes = Buffer.from(text)
  const ends = [...new Set(places.map((place) => Math.min(place, bytes.length)))].sort((a, b) => a - b)
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}

const text = fc.string({
  unit: fc.constantFrom('a', 'b', ' ', ',', '\t', '"', '\n', '\r\n', 'é', '😀', '0', "'"),
  maxLength: 6,
})
const names = fc.uniqueArray(text, { minLength: 1, maxLength: 4 })
const json = fc.jsonValue({ maxDepth: 4, noUnicodeString: false }) as fc.Arbitrary<Json>

describe('CSV and TSV', () => {
  const table = names.chain((header) =>
    fc.record({
      header: fc.constant(header),
      rows: fc.array(fc.array(text, { minLength: header.length, maxLength: header.length }), { maxLength: 5 }),
    }),
  )
  it.each([
    ['csv', ','],
    ['tsv', '\t'],
  ] as const)('of any texts give back the texts, from pieces of %s', async (format, separator) => {
    await fc.assert(
      fc.asyncProperty(
        table,
        fc.constantFrom('\n', '\r\n'),
        fc.boolean(),
        cuts,
        async (given, newline, ends, places) => {
          const quoted = (field: string): string => `"${field.replaceAll('"', '""')}"`
          const lines = [given.header, ...given.rows].map((row) => row.map(quoted).join(separator))
          const written = lines.join(newline) + (ends ? newline : '')
          const expected = given.rows.map((row) => Object.fromEntries(given.header.map((name, i) => [name, row[i]])))
          expect(await valuesOfText(format, piecesAt(written, places))).toEqual(expected)
        },
      ),
    )
  })
})

describe('NDJSON', () => {
  it('gives back its values, from pieces, with blank lines between', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(json),
        fc.constantFrom('\n', '\r\n', '\n\n', '\n \t\n'),
        cuts,
        async (rows, newline, places) => {
          const written = rows.map((row) => JSON.stringify(row)).join(newline)
          expect(await valuesOfText('ndjson', piecesAt(written, places))).toEqual(JSON.parse(JSON.stringify(rows)))
        },
      ),
    )
  })
})

describe('a JSON document that is read as a stream', () => {
  const indent = fc.constantFrom('', ' ', '\t', ' \n\r ')
  const path = fc.array(fc.constantFrom('a', 'b', ''), { maxLength: 2 })

  it('has the items that JSON.parse and its path give', async () => {
    const withPath = fc.tuple(path, json, json, json).map(([keys, inner, other, third]) => {
      const document = keys.reduceRight<Json>((value, key) => ({ x: other, [key]: value, y: third }), inner)
      return { keys, document }
    })
    await fc.assert(
      fc.asyncProperty(withPath, path, fc.boolean(), indent, cuts, async (given, others, isOwn, spaces, places) => {
        const keys = isOwn ? given.keys : others
        const written = JSON.stringify(given.document, null, spaces)
        const jsonPath = `$${keys.map((key) => `['${key}']`).join('')}[*]`
        const items = await valuesOfText('json', piecesAt(written, places), { jsonPath })
        expect(items).toEqual(expectedItems(JSON.parse(written) as Json, keys))
      }),
      { numRuns: 400 },
    )
  })

  it('is refused exactly if JSON.parse refuses it', async () => {
    const broken = fc
      .tuple(
        fc.array(json, { maxLength: 4 }),
        fc.nat({ max: 60 }),
        fc.constantFrom('', ',', ']', '"', '0', 'e', '\\', 'x', '\n', '-', '{'),
      )
      .map(([list, at, change]) => {
        const written = JSON.stringify(list)
        // Through bytes: half of a character that is cut becomes another one.
        return Buffer.from(written.slice(0, at) + change + written.slice(at + 1)).toString()
      })
    await fc.assert(
      fc.asyncProperty(broken, cuts, async (written, places) => {
        const parsed = parsedOrNull(written)
        const items = await valuesOfText('json', piecesAt(written, places)).catch((error: unknown) => String(error))
        // A number that JSON.parse makes infinite; as JSON it is null.
        if (typeof items === 'string' && items.includes('too large'))
          expect(JSON.stringify(parsed?.value)).toContain('null')
        else if (parsed === null) expect(items).toMatch(/not JSON|not a list/)
        else if (Array.isArray(parsed.value)) expect(items).toEqual(parsed.value)
        else expect(items).toMatch(/not a list|stands twice/)
      }),
      { numRuns: 1000 },
    )
  })
})

function expectedItems(document: Json, keys: readonly string[]): unknown[] {
  let value: unknown = document
  for (const key of keys) {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    value = isObject && Object.hasOwn(value as object, key) ? (value as Record<string, unknown>)[key] : undefined
  }
  return typeof value === 'object' && value !== null ? Object.values(value) : []
}

function parsedOrNull(written: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(written) as unknown }
  } catch {
    return null
  }
}

describe('a selection', () => {
  const item = fc.record(
    { id: fc.nat({ max: 4 }), size: fc.nat({ max: 5 }), rank: fc.option(fc.nat({ max: 3 }), { nil: undefined }) },
    { requiredKeys: ['id', 'size'] },
  )
  const selection = fc.record({
    filter: fc.boolean(),
    distinct: fc.boolean(),
    sort: fc.constantFrom('none', 'asc', 'desc'),
    offset: fc.nat({ max: 3 }),
    maxItems: fc.option(fc.nat({ max: 5 })),
  })

  it('is filter, distinct, sort, offset and max_items in this order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(item, { maxLength: 12 }), selection, async (given, chosen) => {
        const items = JSON.parse(JSON.stringify(given)) as { id: number; size: number; rank?: number }[]
        let model = chosen.filter ? items.filter(({ size }) => size > 1) : items
        if (chosen.distinct) model = model.filter(({ id }, at) => model.findIndex((other) => other.id === id) === at)
        const hasRank = model.length === 0 || model.some(({ rank }) => rank !== undefined)
        if (chosen.sort !== 'none') {
          const sign = chosen.sort === 'desc' ? -1 : 1
          const ranked = model.filter(({ rank }) => rank !== undefined).toSorted((a, b) => sign * (a.rank! - b.rank!))
          model = [...ranked, ...model.filter(({ rank }) => rank === undefined)]
        }
        const expected = model.slice(
          chosen.offset,
          chosen.maxItems === null ? undefined : chosen.offset + chosen.maxItems,
        )
        const selected = valuesOf(
          { kind: 'list', items },
          {
            filter: chosen.filter ? 'item.size > 1' : null,
            distinct: chosen.distinct ? 'item.id' : null,
            sortBy: chosen.sort === 'none' ? [] : [{ expression: 'item.rank', isDescending: chosen.sort === 'desc' }],
            offset: chosen.offset,
            maxItems: chosen.maxItems,
          },
        )
        if (chosen.sort !== 'none' && !hasRank && chosen.maxItems !== 0)
          await expect(selected).rejects.toThrow('no item has')
        else expect(await selected).toEqual(expected)
      }),
      { numRuns: 500 },
    )
  })
})
