import { expect, test } from 'vitest'
import type { Json } from 'reprise/durable'
import { itemId, itemKey } from '../../items/item-key.js'
import { partChoice } from './part-choice.js'

type Asked = Parameters<typeof partChoice>[0]

/** The keys that are taken of these values. */
async function taken(asked: Asked, values: readonly Json[]): Promise<string[]> {
  const part = (await partChoice(asked)).choose({ limit: 10 })
  const items = values.map((value, index) => {
    const key = itemKey(value)
    return { index, key, id: itemId(index, key), value }
  })
  const keys = items.filter((item) => part.takes(item)).map(({ key }) => key)
  part.expectFound()
  return keys
}

const ORDERS = [
  { id: 'a', size: 5 },
  { id: 'b', size: 20 },
  { id: 'c', size: 30 },
]

test('a sample is the first items, and of a condition the first that it holds for', async () => {
  expect(await taken({ sample: 2 }, ORDERS)).toEqual(['a', 'b'])
  expect(await taken({ sample: 1, where: 'item.size > limit' }, ORDERS)).toEqual(['b'])
  expect(await taken({ sample: 10 }, [])).toEqual([])
})

test('keys are those of items, and items that share one are all taken', async () => {
  expect(await taken({ only: ['c', 'a'] }, ORDERS)).toEqual(['a', 'c'])
  expect(await taken({ only: ['x'] }, ['x', 'y', 'x'])).toEqual(['x', 'x'])
})

test('a key that no item has is an error with a near one, the first ones, or that there are none', async () => {
  await expect(taken({ only: ['order-12'] }, ['order-1', 'order-2'])).rejects.toThrow('did you mean "order-1"?')
  await expect(taken({ only: ['zebra'] }, ['a', 'b'])).rejects.toThrow('the first keys are "a", "b"')
  await expect(taken({ only: ['a'] }, [])).rejects.toThrow('the input has no items')
})

test('a key that exists is found although the sample was full before it', async () => {
  expect(await taken({ only: ['a', 'c'], sample: 1 }, ORDERS)).toEqual(['a'])
})

test('a condition that makes no sense of an item names the item', async () => {
  await expect(taken({ where: 'item.weight > 3' }, ORDERS)).rejects.toThrow('item 0000000.a: --where:')
  await expect(partChoice({ where: 'item.size >' })).rejects.toThrow()
})
