/** A ledger that never answers keeps nobody from closing: after a lease others go on, whatever is still said here. */
import { afterEach, expect, it, vi } from 'vitest'
import { isSettled, LEASE_MS, turns, World } from './world.js'

afterEach(() => void vi.useRealTimers())

it('a close is given up after a lease when the end of an attempt cannot be written', async () => {
  const world = new World()
  const { durable, line } = await world.open()
  const hang = (): Promise<never> => new Promise(() => undefined)
  await durable.task('t', {}, hang).start(null, { id: 'a' })
  await turns()
  expect(await world.task('t', 'a')).toMatchObject({ status: 'running' })
  line.hold()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const closed = durable.close()
  await vi.advanceTimersByTimeAsync(LEASE_MS - 1)
  expect(await isSettled(closed)).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  await closed
  // Nothing was written: another process finds it as it was.
  expect(await world.task('t', 'a')).toMatchObject({ status: 'running', owner: line.owner?.id })
})
