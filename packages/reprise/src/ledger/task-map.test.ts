import fc from 'fast-check'
import { expect, it } from 'vitest'
import { nameOf, type TaskKey } from './records.js'
import { TaskMap } from './task-map.js'

const KEYS: fc.Arbitrary<TaskKey> = fc.record({
  scopeKind: fc.constantFrom('task', 'run'),
  scope: fc.constantFrom('a', 'b'),
  id: fc.constantFrom('a', 'b', 'c'),
})
const STEPS = fc.array(fc.record({ act: fc.constantFrom('set', 'set', 'delete', 'clear'), key: KEYS, value: fc.nat() }))

it('a map by keys of tasks is a map by their names', () => {
  fc.assert(
    fc.property(STEPS, (steps) => {
      const [map, names] = [new TaskMap<number>(), new Map<string, number>()]
      for (const { act, key, value } of steps) {
        if (act === 'set') {
          map.set(key, value)
          names.set(nameOf(key), value)
        } else if (act === 'delete') {
          map.delete(key)
          names.delete(nameOf(key))
        } else if (value % 4 === 0) {
          map.clear()
          names.clear()
        }
        expect([map.get(key), map.has(key)]).toEqual([names.get(nameOf(key)), names.has(nameOf(key))])
        expect(map.size).toBe(names.size)
        const sorted = (values: Iterable<number>): number[] => [...values].toSorted((a, b) => a - b)
        expect(sorted(map.values())).toEqual(sorted(names.values()))
      }
    }),
    { seed: 1 },
  )
})
