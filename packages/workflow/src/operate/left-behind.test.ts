import { type Ledger, openDurable, openLedger } from 'reprise/durable'
import { expect, test } from 'vitest'
import { leftBehind } from './left-behind.js'

const GONE = { id: 'gone', host: 'elsewhere', pid: 9, processStart: '', bootId: '', startedAtMs: 0, leaseUntilMs: 0 }

/** The same ledger, but for what is given. */
function but(ledger: Ledger, changes: Partial<Ledger>): Ledger {
  return new Proxy(ledger, {
    get: (target, name) => {
      const value: unknown = Reflect.get(changes, name) ?? Reflect.get(target, name)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

test('a process that is gone counts only if it still holds something', async () => {
  const ledger = await openLedger('memory:')
  await ledger.heartbeat(GONE)
  expect(await leftBehind(ledger)).toEqual({
    lostHolders: 0,
    hasRuns: false,
    overdue: { inStoppedRun: false, isRetry: false, untried: undefined },
  })
  const held = but(ledger, { taskOwners: async () => ['gone'] })
  expect(await leftBehind(held)).toMatchObject({ lostHolders: 1, hasRuns: false })
  await ledger.close()
})

test('a retry that has been due for more than a minute is told as one; one that is due soon is not', async () => {
  const ledger = await openLedger('memory:')
  const durable = await openDurable(ledger)
  const policy = { attempts: 2, backoff: 'fixed', initialDelay: '1h', maxDelay: '1h' } as const
  const failing = durable.task('failing', policy, () => {
    throw new Error('no')
  })
  failing.run(1, { id: 'one' }).catch(() => undefined)
  await expect
    .poll(() => ledger.list({ statuses: ['waiting'] }))
    .toMatchObject([{ progress: { retry: { failures: 1 } } }])
  const muchLater = but(ledger, { now: async () => Date.now() + 2 * 3_600_000 })
  expect((await leftBehind(ledger)).overdue.isRetry).toBe(false)
  expect((await leftBehind(muchLater)).overdue).toEqual({
    inStoppedRun: false,
    isRetry: true,
    untried: undefined,
  })
  await durable.close()
})
