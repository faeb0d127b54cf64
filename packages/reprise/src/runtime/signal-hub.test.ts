import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { type AbortListener, listenTo, stopListening } from './signal-hub.js'

const listenersOf = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length
const recorder = (): AbortListener & { readonly reasons: unknown[] } => {
  const reasons: unknown[] = []
  return { reasons, onAbort: (reason) => void reasons.push(reason) }
}

describe('a signal', () => {
  it('has one listener, however many calls wait on it, and none after the last', () => {
    const { signal } = new AbortController()
    const listeners = Array.from({ length: 10_000 }, recorder)
    for (const listener of listeners) {
      listenTo(signal, listener)
      expect(listenersOf(signal)).toBe(1)
    }
    for (const listener of listeners.slice(1)) stopListening(signal, listener)
    expect(listenersOf(signal)).toBe(1)
    for (const listener of listeners.slice(0, 1)) stopListening(signal, listener)
    expect(listenersOf(signal)).toBe(0)
  })

  it('tells everybody once, with its own reason, and keeps no listener', () => {
    const controller = new AbortController()
    const listeners = Array.from({ length: 5 }, recorder)
    for (const listener of listeners) listenTo(controller.signal, listener)
    const reason = { because: 'of a test' }
    controller.abort(reason)
    for (const { reasons } of listeners) expect(reasons).toEqual([reason])
    expect(listenersOf(controller.signal)).toBe(0)
  })

  it('tells nobody who has stopped listening', () => {
    const controller = new AbortController()
    const [stays, goes] = [recorder(), recorder()]
    listenTo(controller.signal, stays)
    listenTo(controller.signal, goes)
    stopListening(controller.signal, goes)
    controller.abort()
    expect(stays.reasons).toHaveLength(1)
    expect(goes.reasons).toHaveLength(0)
  })

  it('can be listened to again after everybody has gone', () => {
    const controller = new AbortController()
    const listener = recorder()
    listenTo(controller.signal, listener)
    stopListening(controller.signal, listener)
    listenTo(controller.signal, listener)
    expect(listenersOf(controller.signal)).toBe(1)
    controller.abort('again')
    expect(listener.reasons).toEqual(['again'])
  })

  it('is heard once by one who listens twice', () => {
    const controller = new AbortController()
    const listener = recorder()
    listenTo(controller.signal, listener)
    listenTo(controller.signal, listener)
    controller.abort('once')
    expect(listener.reasons).toEqual(['once'])
  })

  it('does not mix with another', () => {
    const [a, b] = [new AbortController(), new AbortController()]
    const listener = recorder()
    listenTo(a.signal, listener)
    listenTo(b.signal, listener)
    stopListening(a.signal, listener)
    a.abort('a')
    b.abort('b')
    expect(listener.reasons).toEqual(['b'])
  })

  it('lets listeners stop listening, themselves or each other, while it aborts', () => {
    const controller = new AbortController()
    const { signal } = controller
    const last = recorder()
    const first: AbortListener = {
      onAbort: () => {
        stopListening(signal, first)
        stopListening(signal, last)
      },
    }
    listenTo(signal, first)
    listenTo(signal, last)
    controller.abort()
    expect(last.reasons.length).toBeLessThanOrEqual(1)
    expect(listenersOf(signal)).toBe(0)
  })

  it('forgiving: who never listened may stop', () => {
    const { signal } = new AbortController()
    stopListening(signal, recorder())
    const listener = recorder()
    listenTo(signal, listener)
    stopListening(signal, recorder())
    expect(listenersOf(signal)).toBe(1)
    stopListening(signal, listener)
  })
})
