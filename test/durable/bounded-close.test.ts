/**
 * A ledger that does not answer keeps nobody from closing or stopping: others continue when the lease is over, and the
 * caller is told what is not recorded.
 */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Ledger, LedgerError } from 'reprise/durable'
import { isSettled, turns, ProcessModel } from './process-model.js'

/** Two questions whether it is there. */
const PATIENCE_MS = 10_000

const hang = (): Promise<never> => new Promise(() => undefined)

afterEach(() => void vi.useRealTimers())

describe.each(['close', 'stop'] as const)('while the ledger does not answer, %s', (end) => {
  it('is given up after 10 s, and says that the end of an attempt is not recorded', async () => {
    const model = new ProcessModel()
    const { durable, line } = await model.open()
    await durable.task('t', {}, hang).start(null, { id: 'a' })
    await turns()
    expect(await model.task('t', 'a')).toMatchObject({ status: 'running' })
    line.hold()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const ended = durable[end]()
    ended.catch(() => undefined)
    await vi.advanceTimersByTimeAsync(PATIENCE_MS - 1)
    expect(await isSettled(ended)).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    const error: unknown = await ended.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(LedgerError)
    expect(error).toMatchObject({ problem: 'unreachable' })
    expect((error as Error).message).toMatch(/does not answer: how 1 attempt ended is not recorded; other processes/)
    // Nothing was written: another process finds it as it was.
    expect(await model.task('t', 'a')).toMatchObject({ status: 'running', owner: line.owner?.id })
  })

  it('resolves if nothing was left to be recorded', async () => {
    const model = new ProcessModel()
    const { durable, line } = await model.open()
    durable.task('t', {}, hang)
    line.hold()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const ended = durable[end]()
    await vi.advanceTimersByTimeAsync(PATIENCE_MS)
    await expect(ended).resolves.toBeUndefined()
  })
})

it('a stop of a run is given up after 10 s and says so, and the close after it waits 1 s more', async () => {
  const model = new ProcessModel()
  const { durable, line } = await model.open()
  const run = await durable.runs.start({ id: 'r', kind: 'k', name: 'n', definition: {}, fingerprint: 'f' })
  const step = run.step('s', { attempts: 1 }, hang).run()
  step.catch(() => undefined)
  await turns()
  line.hold()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const stopped = run.stop()
  stopped.catch(() => undefined)
  await vi.advanceTimersByTimeAsync(PATIENCE_MS)
  await expect(stopped).rejects.toThrow('the stop of run r is not recorded')
  await expect(step).rejects.toMatchObject({ kind: 'closed' })
  const closed = durable.close()
  closed.catch(() => undefined)
  await vi.advanceTimersByTimeAsync(1000)
  await expect(closed).rejects.toThrow('how 1 attempt ended is not recorded')
})

/** Its writes wait once `hold` was called, until they are released; every question is answered at once. */
function slowWrites(): { wrap: (ledger: Ledger) => Ledger; hold: () => void; held: (() => void)[] } {
  const held: (() => void)[] = []
  let isSlow = false
  const wrap = (ledger: Ledger): Ledger =>
    new Proxy(ledger, {
      get: (target, verb: keyof Ledger) => {
        const value: unknown = target[verb]
        if (typeof value !== 'function') return value
        const call = value.bind(target) as (...args: unknown[]) => Promise<unknown>
        return async (...args: unknown[]) => {
          if (verb === 'transact' && isSlow) await new Promise<void>((resolve) => held.push(resolve))
          return call(...args)
        }
      },
    })
  const hold = (): void => {
    isSlow = true
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  }
  return { wrap, hold, held }
}

describe('a ledger that answers is waited for, longer than the lease and a minute,', () => {
  const LEASE_MS = 30_000
  const LONG_MS = 200_000

  it.each(['close', 'stop'] as const)('by %s', async (end) => {
    const { wrap, hold, held } = slowWrites()
    const model = new ProcessModel(wrap)
    const { durable } = await model.open({ leaseMs: LEASE_MS })
    await durable.task('t', {}, hang).start(null, { id: 'a' })
    await turns()
    hold()
    const ended = durable[end]()
    ended.catch(() => undefined)
    await vi.advanceTimersByTimeAsync(LONG_MS)
    expect(await isSettled(ended)).toBe(false)
    expect(held).toHaveLength(1)
    held[0]?.()
    await vi.advanceTimersByTimeAsync(PATIENCE_MS)
    await ended
    expect(await model.task('t', 'a')).toMatchObject({ status: 'waiting', owner: null })
  })

  it('by the stop of a run', async () => {
    const { wrap, hold, held } = slowWrites()
    const model = new ProcessModel(wrap)
    const { durable } = await model.open({ leaseMs: LEASE_MS })
    const run = await durable.runs.start({ id: 'r', kind: 'k', name: 'n', definition: {}, fingerprint: 'f' })
    const step = run.step('s', { attempts: 1 }, hang).run()
    step.catch(() => undefined)
    await turns()
    hold()
    const stopped = run.stop()
    stopped.catch(() => undefined)
    await vi.advanceTimersByTimeAsync(LONG_MS)
    expect(await isSettled(stopped)).toBe(false)
    expect(held).toHaveLength(1)
    held[0]?.()
    await vi.advanceTimersByTimeAsync(PATIENCE_MS)
    await stopped
    expect(await model.task('r', 's', 'run')).toMatchObject({ status: 'waiting', owner: null })
  })
})

it('a ledger that goes away after a minute of a slow end is given up 10 s later', async () => {
  const { wrap, hold } = slowWrites()
  const model = new ProcessModel(wrap)
  const { durable, line } = await model.open({ leaseMs: 300_000 })
  await durable.task('t', {}, hang).start(null, { id: 'a' })
  await turns()
  hold()
  const closed = durable.close()
  closed.catch(() => undefined)
  await vi.advanceTimersByTimeAsync(60_000)
  line.hold()
  await vi.advanceTimersByTimeAsync(2 * PATIENCE_MS)
  await expect(closed).rejects.toMatchObject({ problem: 'unreachable' })
})
