/** A long backlog, a short one, and room for few. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fairShare, QueueTurns } from './fair-share.js'

test('queues take turns in the order in which they are given', () => {
  const queues = [['a1', 'a2', 'a3', 'a4'], ['b1', 'b2'], ['c1']]
  expect(fairShare(queues, 1)).toEqual(['a1'])
  expect(fairShare(queues, 3)).toEqual(['a1', 'b1', 'c1'])
  expect(fairShare(queues, 5)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2'])
  expect(fairShare(queues, 99)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'])
  expect(fairShare([], 3)).toEqual([])
  expect(fairShare(queues, 0)).toEqual([])
})

test('no queue gets two more than one that has some left', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(sizes, fc.integer({ min: 1, max: 40 }), (counts, limit) => {
      const queues = counts.map((count, queue) => Array.from({ length: count }, () => queue))
      const taken = fairShare(queues, limit)
      expect(taken).toHaveLength(Math.min(limit, queues.flat().length))
      const got = counts.map((_, queue) => taken.filter((one) => one === queue).length)
      for (const [one, count] of got.entries()) {
        if (count < (counts[one] ?? 0)) expect(Math.max(...got) - count).toBeLessThanOrEqual(1)
      }
    }),
  )
})

test('with room for one task at a time every queue is served in turn', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 2, maxLength: 6 })
  fc.assert(
    fc.property(sizes, (counts) => {
      const turns = new QueueTurns()
      const left = counts.map((count, index) => ({ queue: `q${index}`, count }))
      const since = new Map(left.map(({ queue }) => [queue, 0]))
      for (let total = counts.reduce((sum, count) => sum + count); total > 0; total--) {
        const due = turns.inOrder(left.filter(({ count }) => count > 0))
        expect(due).toHaveLength(left.filter(({ count }) => count > 0).length)
        const [taken] = fairShare(
          due.map((one) => [one]),
          1,
        )
        if (taken === undefined) throw new Error('nothing was taken')
        taken.count--
        turns.serve(taken.queue)
        for (const { queue } of left) since.set(queue, queue === taken.queue ? 0 : (since.get(queue) ?? 0) + 1)
        for (const { queue, count } of left) if (count > 0) expect(since.get(queue)).toBeLessThanOrEqual(counts.length)
      }
    }),
  )
})

test('a queue that is new is served before one that was served', () => {
  const turns = new QueueTurns()
  turns.serve('old')
  expect(turns.inOrder([{ queue: 'old' }, { queue: 'new' }])).toEqual([{ queue: 'new' }, { queue: 'old' }])
})

test('a queue that is left out for a while keeps its place, and one that is gone is forgotten', () => {
  const turns = new QueueTurns()
  const queues = [{ queue: 'a' }, { queue: 'b' }]
  turns.serve('b')
  turns.serve('a')
  expect(turns.inOrder([{ queue: 'b' }])).toEqual([{ queue: 'b' }])
  turns.serve('b')
  expect(turns.inOrder(queues)).toEqual(queues)
  for (let run = 0; run < 1000; run++) {
    turns.serve(`run${run}`)
    turns.inOrder(queues)
  }
  expect(turns.remembered).toBeLessThan(120)
  expect(turns.inOrder(queues)).toEqual(queues)
})
