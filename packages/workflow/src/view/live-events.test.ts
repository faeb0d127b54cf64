import { MemoryLedger } from 'reprise/durable'
import { afterEach, expect, test, vi } from 'vitest'
import { withVerbs } from '../../../../test/durable/with-verbs.js'
import type { RunEvent } from '../run/run-event.js'
import { LiveEvents } from './live-events.js'
import type { EventView } from './views.js'

const IDLE_MS = 5000
const TIMES = { activeMs: 1, waitedMs: 2, downMs: 3 }
const FINISHED: RunEvent = {
  ...{ type: 'run_finished', timeMs: 9, run: 'r', state: 'failed', stopReason: null },
  ...TIMES,
}

afterEach(() => vi.useRealTimers())

test('the figures of a run that has ended are told although the ledger cannot be read', async () => {
  const ledger = withVerbs(new MemoryLedger(), { events: () => Promise.reject(new Error('away')) })
  const told: EventView[] = []
  const live = new LiveEvents(ledger, 'r', (event) => told.push(event))
  live.hear(FINISHED)
  await live.flushed()
  expect(told.map(({ type, detail }) => [type, detail])).toEqual([
    ['run_summary', { state: 'failed', stopReason: null, ...TIMES }],
  ])
})

test('a ledger that does not answer is not waited for longer than is said, and one that goes on answering is', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const answers: (() => void)[] = []
  const ledger = withVerbs(new MemoryLedger(), {
    events: () => new Promise((resolve) => answers.push(() => resolve([]))),
  })
  const live = new LiveEvents(ledger, 'r', () => undefined)
  live.hear({ ...FINISHED, timeMs: 1 })
  live.hear(FINISHED)
  let isOver = false
  const over = live.flushed(IDLE_MS).then(() => (isOver = true))
  await vi.advanceTimersByTimeAsync(IDLE_MS - 1)
  answers.shift()?.()
  // The first was told meanwhile, so the second has its time.
  await vi.advanceTimersByTimeAsync(IDLE_MS)
  expect(isOver).toBe(false)
  await vi.advanceTimersByTimeAsync(IDLE_MS)
  await over
  expect(answers).toHaveLength(1)
})
