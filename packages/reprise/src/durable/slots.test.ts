import { describe, expect, it } from 'vitest'
import { Slots } from './slots.js'

describe('the slots of a process', () => {
  it('are held, occupied and given back', () => {
    const slots = new Slots(2, () => undefined)
    expect(slots.take()).toBe(true)
    slots.occupy()
    expect(slots.free).toBe(0)
    expect(slots.take()).toBe(false)
    slots.give()
    expect(slots.free).toBe(1)
  })

  it('go to those with a grant first, one each, and then to what is due', () => {
    const order: string[] = []
    const slots = new Slots(1, () => order.push('due'))
    slots.occupy()
    const takes = (name: string) => (): void => {
      order.push(name)
      slots.occupy()
    }
    slots.whenFree(takes('a'))
    slots.whenFree(takes('b'))
    slots.starve()
    slots.give()
    expect(order).toEqual(['a'])
    slots.give()
    expect(order).toEqual(['a', 'b'])
    slots.give()
    expect(order).toEqual(['a', 'b', 'due'])
    slots.give(0)
    expect(order).toHaveLength(3)
  })

  it('are given at once where there are some, and not to who has left', () => {
    const order: string[] = []
    const slots = new Slots(1, () => undefined)
    slots.whenFree(() => order.push('now'))
    slots.occupy()
    slots.whenFree(() => order.push('gone'))()
    slots.give()
    expect(order).toEqual(['now'])
  })

  it('are none when closed', () => {
    const order: string[] = []
    const slots = new Slots(3, () => order.push('due'))
    slots.occupy()
    slots.starve()
    slots.close()
    slots.give()
    expect(slots.free).toBe(0)
    expect(slots.take()).toBe(false)
    expect(order).toEqual([])
  })

  it('are left before an outcome is written, by as many as there are slots', () => {
    const slots = new Slots(2, () => undefined)
    const ends = (): boolean => {
      slots.occupy()
      return slots.leave()
    }
    expect([ends(), ends(), ends()]).toEqual([true, true, false])
    expect(slots.free).toBe(1)
    slots.written()
    expect(ends()).toBe(true)
    expect(slots.free).toBe(1)
  })
})
