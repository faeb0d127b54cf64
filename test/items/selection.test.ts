/** Points 9, 11 and 18 of map/reduce: which items are taken, in which order, and what they are called. */
import { describe, expect, it } from 'vitest'
import type { Json } from 'reprise/durable'
import { itemId, itemKey } from '../../packages/workflow/src/items/item-key.js'
import { isId } from '../../packages/workflow/src/state/names.js'
import { itemsOf, valuesOf, valuesOfText } from './items-of.js'

const list = (...items: Json[]) => ({ kind: 'list', items }) as const
const by = (expression: string, isDescending = false) => ({ sortBy: [{ expression, isDescending }] })

describe('a filter', () => {
  it('takes what it is true for, and may name other values', async () => {
    const items = list({ size: 1 }, { size: 5 }, { size: 9 })
    expect(await valuesOf(items, { filter: 'item.size > least' }, { values: { least: 4 } })).toEqual([
      { size: 5 },
      { size: 9 },
    ])
    expect(await valuesOf(list('a.ts', 'b.js'), { filter: 'item.endsWith(".ts")' })).toEqual(['a.ts'])
  })

  it('that fails names the item', async () => {
    await expect(valuesOfText('csv', 'id,size\n1,2\n2,3\n', { filter: 'item.size > 1' })).rejects.toThrow(
      '<stdin>:2: `filter`: `item.size > 1`: ',
    )
    const missing = valuesOf(list({ size: 1 }, {}), { filter: 'item.size > 0' })
    await expect(missing).rejects.toThrow('list[1]: `filter`: `item.size > 0`: No such key: size; `has(…)` asks')
    await expect(missing).rejects.toMatchObject({ code: 'invalid_items', retryable: false, place: 'list[1]' })
    await expect(valuesOf(list(1), { filter: 'itm > 0' })).rejects.toThrow('did you mean `item`?')
  })
})

describe('distinct', () => {
  it('takes the first of each value, whatever the order of its keys', async () => {
    const items = list({ id: 1, n: 'a' }, { id: 2 }, { id: 1, n: 'b' }, { id: '1' })
    expect(await valuesOf(items, { distinct: 'item.id' })).toEqual([{ id: 1, n: 'a' }, { id: 2 }, { id: '1' }])
    const same = list({ a: 1, b: 'x'.repeat(99) }, { b: 'x'.repeat(99), a: 1 }, null, null)
    expect(await valuesOf(same, { distinct: 'item' })).toHaveLength(2)
  })

  it('refuses an item without the value', async () => {
    await expect(valuesOf(list({ id: 1 }, {}), { distinct: 'item.id' })).rejects.toThrow(
      'list[1]: `distinct`: the item has no value for `item.id` (leave such items out with `filter: has(…)`)',
    )
  })
})

describe('sort_by', () => {
  it('is stable, and puts what has no value last in either direction', async () => {
    const items = list({ p: 2, n: 'a' }, { n: 'b' }, { p: 1, n: 'c' }, { p: 2, n: 'd' }, { p: null, n: 'e' })
    const names = async (isDescending: boolean) =>
      (await valuesOf(items, by('item.p', isDescending))).map((item) => (item as { n: string }).n).join('')
    expect(await names(false)).toBe('cadbe')
    expect(await names(true)).toBe('adcbe')
  })

  it('takes several keys, texts by their characters, and computed values', async () => {
    const sortBy = [
      { expression: 'item.a', isDescending: false },
      { expression: 'item.b', isDescending: true },
    ]
    const items = list({ a: 'b', b: 1 }, { a: 'Z', b: 1 }, { a: 'b', b: 2 })
    expect(await valuesOf(items, { sortBy })).toEqual([
      { a: 'Z', b: 1 },
      { a: 'b', b: 2 },
      { a: 'b', b: 1 },
    ])
    expect(await valuesOf(list('ccc', 'a', 'bb'), by('size(item)'))).toEqual(['a', 'bb', 'ccc'])
    expect(await valuesOf(list({ x: true }, { x: false }), by('item.x'))).toEqual([{ x: false }, { x: true }])
  })

  it('refuses values of two types, and names both items', async () => {
    await expect(valuesOf(list({ p: 1 }, {}, { p: 'high' }), by('item.p'))).rejects.toThrow(
      'list[2]: `sort_by`: `item.p` is a number at list[0] and text at list[2] (make them one type, as in `string(item.p)` or `int(item.p)`)',
    )
    await expect(valuesOfText('ndjson', '{"p":"a"}\n\n{"p":2}\n', by('item.p'))).rejects.toThrow(
      'text at <stdin>:1 and a number at <stdin>:3',
    )
    await expect(valuesOf(list({ p: [1] }), by('item.p'))).rejects.toThrow('`item.p` is a list, which has no order')
  })

  it('refuses an expression that no item has a value for', async () => {
    await expect(valuesOf(list({ priority: 1 }), by('item.priorty'))).rejects.toThrow(
      'list: `sort_by`: no item has a value for `item.priorty` (the first item is an object with `priority`)',
    )
    expect(await valuesOf(list(), by('item.priorty'))).toEqual([])
  })
})

describe('the key of an item', () => {
  it.each([
    [{ id: 'orders/17', item_id: 'x' }, 'orders/17'],
    [{ item_id: 4, _id: 'x' }, '4'],
    [{ id: null, _id: 'Zürich' }, 'Zürich'],
    [{ id: { nested: 1 }, _id: '' }, /^[\da-f]{20}$/],
    ['src/a.ts', 'src/a.ts'],
    ['a\nb', /^[\da-f]{20}$/],
    ['', /^[\da-f]{20}$/],
    ['x'.repeat(201), /^[\da-f]{20}$/],
    [17, '17'],
    [true, 'true'],
    [null, 'null'],
    [['eu', 1], '["eu",1]'],
    [[['eu'], 1], /^[\da-f]{20}$/],
    [{ name: 'x' }, /^[\da-f]{20}$/],
  ] as const)('%j is %s', (value, expected) => {
    expect(itemKey(value)).toMatch(expected)
  })

  it('that is a hash does not depend on the order of fields', () => {
    expect(itemKey({ a: 1, b: [2] })).toBe(itemKey({ b: [2], a: 1 }))
    expect(itemKey({ a: 1 })).not.toBe(itemKey({ a: 2 }))
  })

  it.each([
    [17, 'orders/17', '0000017.orders-17'],
    [0, 'Zürich', '0000000.Zurich'],
    [1, '東京', '0000001.item'],
    [2, '../../etc/passwd', '0000002.etc-passwd'],
    [9_999_999, 'x'.repeat(200), `9999999.${'x'.repeat(60)}`],
    [3, '...', '0000003.item'],
  ])('at position %d, %s, gives an id that is fit for files', (index, key, expected) => {
    expect(itemId(index, key)).toBe(expected)
    expect(isId(itemId(index, key))).toBe(true)
  })
})

it('items are numbered in the order in which they are processed, and duplicates stay apart', async () => {
  const items = await itemsOf(list({ id: 'b', n: 2 }, { id: 'a', n: 1 }, { id: 'b', n: 3 }), by('item.n'))
  expect(items.map(({ index, key, id }) => [index, key, id])).toEqual([
    [0, 'a', '0000000.a'],
    [1, 'b', '0000001.b'],
    [2, 'b', '0000002.b'],
  ])
})
