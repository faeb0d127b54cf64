import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterEach, expect, test, vi } from 'vitest'
import type { RepriseEvent } from '../core/event.js'
import { DIAGNOSTICS_CHANNEL, diagnostics } from './diagnostics.js'

const event: RepriseEvent = { timeMs: 0, key: 'api', callId: 1, attempt: 0, attempts: 3, type: 'call_started' }

afterEach(() => {
  vi.unstubAllGlobals()
})

test('a subscriber gets each event itself, until it leaves', () => {
  const received: unknown[] = []
  const listener = (message: unknown): void => void received.push(message)
  const observer = diagnostics()
  observer.onEvent(event)
  subscribe(DIAGNOSTICS_CHANNEL, listener)
  observer.onEvent(event)
  unsubscribe(DIAGNOSTICS_CHANNEL, listener)
  observer.onEvent(event)
  expect(DIAGNOSTICS_CHANNEL).toBe('reprise:event')
  expect(received).toEqual([event])
  expect(received[0]).toBe(event)
})

test('nothing is published while nobody listens', () => {
  const publish = vi.spyOn(channel(DIAGNOSTICS_CHANNEL), 'publish')
  diagnostics().onEvent(event)
  expect(publish).not.toHaveBeenCalled()
  publish.mockRestore()
})

test.each([undefined, {}, { getBuiltinModule: () => undefined }])(
  'where the runtime has no such module it does nothing: %#',
  (process) => {
    vi.stubGlobal('process', process)
    expect(() => diagnostics().onEvent(event)).not.toThrow()
  },
)
