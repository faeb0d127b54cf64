/** The option `tally` of durable tasks: a name, or a function that gives one for each task. */
import { afterEach, expect, it } from 'vitest'
import { MemoryLedger } from '../../packages/reprise/src/ledger/memory-ledger.js'
import { openDurable } from '../../packages/reprise/src/open/open-durable.js'

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const durable of opened.splice(0)) await durable.close()
})

async function open(): Promise<{ ledger: MemoryLedger; durable: Awaited<ReturnType<typeof openDurable>> }> {
  const ledger = new MemoryLedger()
  const durable = await openDurable(ledger)
  opened.push(durable)
  return { ledger, durable }
}

it('counts tasks of one name in one tally', async () => {
  const { ledger, durable } = await open()
  const double = durable.task('double', 1, (n: number) => n * 2, { tally: 'doubles' })
  await double.run(1)
  await double.run(2)
  expect(await ledger.tally('doubles')).toMatchObject({ total: 2, succeeded: 2 })
})

it('counts a task where the function says, and leaves a task alone for which it says nothing', async () => {
  const { ledger, durable } = await open()
  const work = durable.task('work', 1, (n: number) => n, {
    tally: ({ id, input }) => (input === 0 ? undefined : `import-${id[0]}`),
  })
  await work.run(0, { id: 'a1' })
  await work.run(1, { id: 'a2' })
  await work.run(1, { id: 'b1' })
  expect((await ledger.tallies({})).map(({ name, total }) => [name, total])).toEqual([
    ['import-a', 1],
    ['import-b', 1],
  ])
})

it.each(['', 'a\u0000b', 'x'.repeat(201), 7, null])('refuses %j as the name of a tally', async (name) => {
  const { durable } = await open()
  const wrong = 'a text of 1 to 200 characters without control characters'
  const given = name as unknown as string
  expect(() => durable.task('fixed', 1, (n: number) => n, { tally: given })).toThrow(wrong)
  const work = durable.task('asked', 1, (n: number) => n, { tally: () => given })
  await expect(work.run(1)).rejects.toThrow(wrong)
})
