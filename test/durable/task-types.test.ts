/** What the types of a task's input and result allow: values that a ledger keeps as they are. */
import { type DurableContext, type Json, openDurable, type TaskHandle } from 'reprise/durable'
import { expect, expectTypeOf, it } from 'vitest'

interface Order {
  readonly id: string
  readonly lines: readonly { readonly count: number; readonly note?: string | undefined }[]
  readonly replaces?: Order
}

it('a task of plain data has the types of its function', async () => {
  const durable = await openDurable('memory:')
  const order = durable.task('order', {}, async ({ id }: Order, { attempt }) => ({ id, attempt }))
  expectTypeOf(order).toEqualTypeOf<TaskHandle<Order, { id: string; attempt: number }>>()
  expectTypeOf(durable.task('json', {}, (value: Json): Json => value)).toEqualTypeOf<TaskHandle<Json, Json>>()
  expectTypeOf(durable.task('any', {}, (_, { attempt }) => attempt)).toEqualTypeOf<TaskHandle<unknown, number>>()
  expectTypeOf(durable.task('nothing', {}, async () => undefined)).toEqualTypeOf<TaskHandle<unknown, undefined>>()
  expect(await order.run({ id: 'o1', lines: [{ count: 1 }] })).toEqual({ id: 'o1', attempt: 1 })
  await durable.close()
})

it('a task whose input or result JSON cannot say does not compile', async () => {
  const durable = await openDurable('memory:')
  // @ts-expect-error: a Date would be read as a text.
  const dated = durable.task('dated', {}, (input: { readonly at: Date }) => input.at.getTime())
  await expect(dated.run({ at: new Date(0) })).rejects.toThrow('input.at')
  // @ts-expect-error: the same within a list of the result.
  durable.task('result', {}, () => [{ at: new Date(0) }])
  // @ts-expect-error: a Map would be read as an empty object.
  durable.task('map', {}, (input: { readonly counts: Map<string, number> }) => input.counts.size)
  // @ts-expect-error: JSON has no big integers.
  durable.task('bigint', {}, (input: bigint) => String(input))
  await durable.close()
})

it('checkpoints have the type that the function says of its context', async () => {
  const durable = await openDurable('memory:')
  interface Place {
    readonly page: number
  }
  const typed = durable.task('typed', {}, async (_input: Order, context: DurableContext<Place>) => {
    expectTypeOf(context.checkpoint).parameter(0).toEqualTypeOf<Place>()
    expectTypeOf(context.lastCheckpoint?.value).toEqualTypeOf<Place | undefined>()
    return 1
  })
  expectTypeOf(typed).toEqualTypeOf<TaskHandle<Order, number>>()
  durable.task('any', {}, (_input: null, context) => {
    expectTypeOf(context.checkpoint).parameter(0).toEqualTypeOf<Json>()
  })
  // @ts-expect-error: a Date would be read as a text.
  durable.task('dated', {}, (_input: null, _context: DurableContext<{ at: Date }>) => 1)
  expect(await typed.run({ id: 'o1', lines: [] })).toBe(1)
  await durable.close()
})
