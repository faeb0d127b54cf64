/** A ledger that does not answer keeps nobody from closing: others go on when the lease is over. */
import { afterEach, expect, it, vi } from 'vitest'
import { isSettled, turns, World } from './world.js'

/** Once to see whether it answers, once for what is still said. */
const PATIENCE_MS = 10_000

afterEach(() => void vi.useRealTimers())

it('a close is given up after a while when nobody hears the end of an attempt', async () => {
  const world = new World()
  const { durable, line } = await world.open()
  const hang = (): Promise<never> => new Promise(() => undefined)
  await durable.task('t', {}, hang).start(null, { id: 'a' })
  await turns()
  expect(await world.task('t', 'a')).toMatchObject({ status: 'running' })
  line.hold()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const closed = durable.close()
  await vi.advanceTimersByTimeAsync(PATIENCE_MS - 1)
  expect(await isSettled(closed)).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  await closed
  // Nothing was written: another process finds it as it was.
  expect(await world.task('t', 'a')).toMatchObject({ status: 'running', owner: line.owner?.id })
})
