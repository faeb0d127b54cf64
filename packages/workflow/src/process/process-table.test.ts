import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parsePs, parseStat, pidsGivenSince } from './process-table.js'
import { membersOf } from './process-tree.js'

const row = (pid: number, parent: number, group = pid): Parameters<typeof membersOf>[0][number] => ({
  pid,
  parent,
  group,
  session: group,
  start: '1',
})

test('a line of the system is read behind a name that contains anything', () => {
  const rest = `${'0 '.repeat(15)}88123 0 0`
  expect(parseStat(12, `12 (a) S 99 99 (x) S 4 5 6 ${rest}`)).toEqual({
    pid: 12,
    parent: 4,
    group: 5,
    session: 6,
    start: '88123',
  })
})

test('who has ended is no longer there', () => {
  expect(parseStat(12, `12 (sh) Z 4 5 6 ${'0 '.repeat(15)}88123 0 0`)).toBeNull()
  expect(parsePs('   12     4     5 Z+   Mon Jan  5 12:00:00 2026\n')).toEqual([])
})

test('what ps prints is read with its dates', () => {
  expect(parsePs('   12     4     5 Ss   Mon Jan  5 12:00:00 2026\n\nnonsense\n')).toEqual([
    { pid: 12, parent: 4, group: 5, session: 0, start: 'Mon Jan  5 12:00:00 2026' },
  ])
})

test('a tree is its roots and all below them, though parents may go around in circles', () => {
  const rows = [row(10, 1), row(11, 10), row(12, 11), row(20, 1), row(30, 31), row(31, 30)]
  expect(membersOf(rows, ({ pid }) => pid === 10)).toEqual(new Set([10, 11, 12]))
  expect(membersOf(rows, ({ pid }) => pid === 30)).toEqual(new Set([30, 31]))
})

test.runIf(existsSync('/proc/loadavg'))('the pids given since a process started contain every later one', () => {
  const children = [1, 2, 3].map(() => spawn('sleep', ['60']))
  try {
    // They live: of those that have ended only the last few are contained, and other programs may start many meanwhile.
    const [first, second, third] = children.map(({ pid }) => pid)
    const given = pidsGivenSince(first ?? 0)
    expect(given).toEqual(expect.arrayContaining([second, third]))
    expect(given).not.toContain(first)
  } finally {
    for (const child of children) child.kill('SIGKILL')
  }
})
