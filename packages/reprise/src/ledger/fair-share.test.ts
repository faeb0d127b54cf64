/** A long backlog, a short one, and room for few. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fairShare } from './fair-share.js'

const due = (queue: string, ...times: number[]): { task: { queue: string; dueAtMs: number } }[] =>
  times.map((dueAtMs) => ({ task: { queue, dueAtMs } }))
const timesOf = (rows: ReturnType<typeof due>): string[] => rows.map(({ task }) => `${task.queue}${task.dueAtMs}`)

test('a queue with a backlog leaves room for one that was late', () => {
  const rows = [...due('a', 1, 2, 3, 4), ...due('b', 9, 10), ...due('c', 5)]
  expect(timesOf(fairShare(rows, 3))).toEqual(['a1', 'c5', 'b9'])
  expect(timesOf(fairShare(rows, 5))).toEqual(['a1', 'a2', 'c5', 'b9', 'b10'])
})

test('all are taken, the earliest first, where there is room', () => {
  expect(timesOf(fairShare([...due('a', 2, 3), ...due('b', 1)], 9))).toEqual(['b1', 'a2', 'a3'])
})

test('no queue gets two more than one that has some left', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(sizes, fc.integer({ min: 1, max: 40 }), (counts, limit) => {
      const rows = counts.flatMap((count, queue) => due(`q${queue}`, ...Array.from({ length: count }, (_, at) => at)))
      const taken = fairShare(rows, limit)
      expect(taken).toHaveLength(Math.min(limit, rows.length))
      const got = counts.map((_, queue) => taken.filter(({ task }) => task.queue === `q${queue}`).length)
      for (const [one, count] of got.entries()) {
        if (count < (counts[one] ?? 0)) expect(Math.max(...got) - count).toBeLessThanOrEqual(1)
      }
    }),
  )
})
