import { MemoryLedger } from 'reprise/durable'
import { afterEach, expect, test, vi } from 'vitest'
import { withVerbs } from '../../../../test/durable/with-verbs.js'
import { LiveEvents } from '../view/live-events.js'
import { closeAfterEvents } from './close-after-events.js'

afterEach(() => vi.useRealTimers())

test('a read that never answers does not keep the store open, and the figures are told when it fails', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  let isAsked = false
  let fail: (error: Error) => void = () => undefined
  const ledger = withVerbs(new MemoryLedger(), {
    events: () => {
      isAsked = true
      return new Promise((_resolve, reject) => (fail = reject))
    },
  })
  const said: string[] = []
  const live = new LiveEvents(ledger, 'r', ({ type }) => said.push(type))
  const times = { activeMs: 1, waitedMs: 0, downMs: 0 }
  live.hear({ type: 'run_finished', timeMs: 1, run: 'r', state: 'failed', stopReason: null, ...times })
  await vi.advanceTimersByTimeAsync(0)
  expect(isAsked).toBe(true)
  const close = (): Promise<void> => {
    said.push('closed')
    fail(new Error('closed'))
    return Promise.resolve()
  }
  const closed = closeAfterEvents(live, { close })
  // A few seconds, and then what it tells in the ones after.
  await vi.advanceTimersByTimeAsync(20_000)
  expect(said).toEqual(['closed', 'run_summary'])
  await closed
})
