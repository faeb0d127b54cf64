/** Parcels on a slow line, sent as densely as the event loop allows. */
import { expect, test } from 'vitest'
import { waitFor } from '../faults/rig.js'
import { DelayLine } from './delay-line.js'

test('parcels of dense traffic arrive in the order in which they were sent, none before its delay', async () => {
  const received: number[] = []
  const sentAtMs: number[] = []
  let early = 0
  const line = new DelayLine<number>((parcel) => {
    received.push(parcel)
    if (performance.now() - (sentAtMs[parcel] ?? 0) < 1.5) early++
  })
  for (let turn = 0; turn < 600; turn++) {
    for (let nth = 0; nth < 100; nth++) {
      sentAtMs.push(performance.now())
      line.send(sentAtMs.length - 1, 1.5)
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
  await waitFor(() => received.length === 60_000, 'all parcels have arrived')
  expect(received.every((parcel, nth) => parcel === nth)).toBe(true)
  expect(early).toBe(0)
})

test('a delay that is made shorter lets no parcel overtake those on their way', async () => {
  const received: string[] = []
  const line = new DelayLine<string>((parcel) => {
    received.push(parcel)
    if (parcel === 'slow') line.send('sent on arrival', 0)
  })
  line.send('slow', 20)
  line.send('quick', 1)
  line.send('at once', 0)
  expect(received).toEqual([])
  await waitFor(() => received.length === 4, 'all have arrived')
  expect(received).toEqual(['slow', 'quick', 'at once', 'sent on arrival'])
})

test('a line without a delay delivers at once', () => {
  const received: number[] = []
  const line = new DelayLine<number>((parcel) => received.push(parcel))
  line.send(1, 0)
  line.send(2, 0)
  expect(received).toEqual([1, 2])
})
