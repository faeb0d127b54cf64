import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BoundedMap } from './bounded-map.js'

describe('a bounded map', () => {
  it('is a map up to its limit', () => {
    const map = new BoundedMap<number>(3, () => true)
    expect(map.get('a')).toBeUndefined()
    map.set('a', 1)
    map.set('b', 2)
    map.set('a', 3)
    expect([map.get('a'), map.get('b'), map.size]).toEqual([3, 2, 2])
    expect([...map.values()]).toEqual([3, 2])
  })

  it('beyond its limit forgets the oldest that may be forgotten', () => {
    const map = new BoundedMap<{ idle: boolean }>(3, ({ idle }) => idle)
    map.set('busy', { idle: false })
    map.set('idle', { idle: true })
    map.set('idle too', { idle: true })
    map.set('new', { idle: true })
    expect(map.get('idle')).toBeUndefined()
    expect(map.get('busy')).toBeDefined()
    expect(map.size).toBe(3)
  })

  it('forgets the oldest of all if none may be forgotten', () => {
    const map = new BoundedMap<number>(2, () => false)
    map.set('a', 1)
    map.set('b', 2)
    map.set('c', 3)
    expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([undefined, 2, 3])
  })

  it('forgets nobody when a known key is set at the limit', () => {
    const map = new BoundedMap<number>(2, () => true)
    map.set('a', 1)
    map.set('b', 2)
    map.set('a', 3)
    expect([map.get('a'), map.get('b')]).toEqual([3, 2])
  })

  it('is at home with keys that objects are not', () => {
    const map = new BoundedMap<number>(9, () => true)
    expect(map.get('__proto__')).toBeUndefined()
    map.set('__proto__', 1)
    expect([map.get('__proto__'), map.get('constructor')]).toEqual([1, undefined])
  })

  it('never exceeds its limit, and always holds what was set last', () => {
    const key = fc.integer({ min: 0, max: 30 }).map(String)
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 }), fc.array(fc.tuple(key, fc.boolean())), (limit, entries) => {
        const map = new BoundedMap<boolean>(limit, (idle) => idle)
        for (const [name, idle] of entries) {
          map.set(name, idle)
          expect(map.size).toBeLessThanOrEqual(limit)
          expect(map.get(name)).toBe(idle)
        }
      }),
    )
  })
})
