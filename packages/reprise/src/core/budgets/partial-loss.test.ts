import { describe, expect, it } from 'vitest'
import { PartialLoss } from './partial-loss.js'

/** A loss of this share: of ten attempts that many are late, each overtaken by one that is answered. */
function lossOf(tenths: number): PartialLoss {
  const loss = new PartialLoss()
  for (let round = 0; round < 100; round++) {
    for (let i = 0; i < 10; i++) {
      if (i < tenths) loss.missed(2 * round, false)
      else loss.answered(true, 2 * round + 3)
    }
  }
  return loss
}

describe('a part of a dependency that is away', () => {
  it('explains nothing while no attempt was overtaken', () => {
    const loss = new PartialLoss()
    expect(loss.explains(1)).toBe(false)
    loss.answered(true, 0)
    loss.missed(0, false)
    loss.missed(100, false)
    expect(loss.explains(0)).toBe(false)
  })

  it('explains more attempts in a row without an answer, the more of them have none', () => {
    const most = [3, 5, 7, 8].map((tenths) => {
      const loss = lossOf(tenths)
      return Array.from({ length: 200 }, (_, n) => n).findLast((n) => loss.explains(n)) ?? 0
    })
    expect(most).toEqual(most.toSorted((a, b) => a - b))
    expect(most[0]).toBeGreaterThanOrEqual(2)
    expect(most[3]).toBeLessThan(50)
  })

  it('counts late attempts since the last answer like those in flight', () => {
    const loss = lossOf(5)
    expect(loss.explains(2)).toBe(true)
    for (let i = 0; i < 100; i++) loss.missed(1000, true)
    expect(loss.explains(2)).toBe(false)
    loss.answered(true, 1000)
    expect(loss.explains(2)).toBe(true)
  })

  it('is not seen in the long tail of a dependency that is there', () => {
    expect(lossOf(1).explains(1)).toBe(false)
  })

  it('is not seen in a silence, nor by an answer that took long', () => {
    const silent = new PartialLoss()
    silent.answered(true, 10)
    silent.missed(0, true)
    expect(silent.explains(1)).toBe(false)
    const slow = new PartialLoss()
    slow.answered(false, 10)
    slow.missed(0, false)
    expect(slow.explains(1)).toBe(false)
  })

  it('is forgotten after answers without one that is late', () => {
    const loss = lossOf(5)
    for (let i = 0; i < 2000; i++) loss.answered(true, 1000)
    expect(loss.explains(1)).toBe(false)
  })
})
