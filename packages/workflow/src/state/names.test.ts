import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareAttempts, expectId, parseLogName, stemOf } from './names.js'

test('an id is a name and nothing else', () => {
  for (const id of ['a', 'fetch-1', '0', 'A.b_c-d', 'x'.repeat(128)]) expect(expectId('run', id)).toBe(id)
  const bad = ['', '.', '..', '../x', 'a/b', '/a', '-a', '_a', '.a', 'a b', 'a\0', 'a\n', 'é', 'x'.repeat(129)]
  for (const id of bad) expect(() => expectId('run', id)).toThrow(/cannot be the id of a run: 1 to 128 letters/)
})

test('the name of a log says which attempt it is of', () => {
  const number = fc.nat({ max: Number.MAX_SAFE_INTEGER })
  fc.assert(
    fc.property(number, number, number, (generation, attempt, execution) => {
      const name = { generation, attempt, execution }
      expect(parseLogName(`${stemOf(name)}.log`)).toEqual(name)
    }),
  )
  for (const name of ['1.1.log', '01.1.1.log', '1.1.1.log.gz', '1.1.1.group', '1.1.-1.log', '..log', '1.1.1.1.log']) {
    expect(parseLogName(name)).toBeNull()
  }
  for (const wrong of [-1, 1.5, Number.NaN, Infinity]) {
    expect(() => stemOf({ generation: 1, attempt: wrong, execution: 1 })).toThrow(RangeError)
  }
})

test('attempts are in the order they were made', () => {
  const made = ['0.1.1', '0.1.2', '0.2.1', '0.10.1', '1.1.1', '10.1.1'].map((stem) => parseLogName(`${stem}.log`))
  const shuffled = [4, 0, 5, 2, 1, 3].map((index) => made[index]).filter((name) => name !== null && name !== undefined)
  expect(shuffled.toSorted(compareAttempts)).toEqual(made)
})
