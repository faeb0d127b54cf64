/**
 * A process that works on recorded jobs, 100 at once, is killed with SIGKILL by its own job after a third of them, and
 * another one is started: how long until all are done, and how many ran twice. Imports contenders.
 */
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { type ChildProcess } from 'node:child_process'
import { answerOf, type Contender, started } from './contenders.js'
import type { Place } from './place.js'
import { reasonOf } from './rates.js'
import { number, table } from '../ledger/report.js'

export interface KillEffort {
  readonly jobs: number
  /** A peer that needs longer is not waited for. */
  readonly longestSeconds: number
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
/** Without a job more for so long, nothing will come before somebody's patience ends. */
const STILL_MS = 4000
const WIDTH = 100

interface Killed {
  readonly seconds: number
  readonly left: number
  readonly twice: number
}

export async function measureKill(contenders: readonly Contender[], place: Place, effort: KillEffort): Promise<string> {
  const lines: string[][] = []
  for (const contender of contenders) {
    try {
      const killed = await place.inDatabase((url) => oneKill(contender, place, url, effort))
      lines.push(lineOf(contender, killed))
    } catch (error) {
      lines.push([contender.title, reasonOf(error), '', '', ''])
    }
    if (contender.service !== undefined) await place.drop(contender.service)
    console.error(`kill: ${contender.title} measured`)
  }
  return table([[`${effort.jobs} jobs`, 'all done after', 'ran twice', 'goal', 'stretch'], ...lines])
}

function lineOf({ title, kind, patience }: Contender, { seconds, left, twice }: Killed): string[] {
  const goals =
    kind === 'library' ? [`≤ 2 s ${seconds <= 2 ? '✓' : '✗'}`, `≤ 1 s ${seconds <= 1 ? '✓' : '✗'}`] : ['', '']
  if (left === 0) return [title, `${number(seconds)} s`, number(twice), ...goals]
  const setting = patience === undefined ? '' : `, by its setting: ${patience.setting}`
  return [title, `> ${number(seconds)} s${setting}; ${left} left`, number(twice), ...goals]
}

async function oneKill(contender: Contender, place: Place, url: string, effort: KillEffort): Promise<Killed> {
  const { jobs } = effort
  const log = place.file(`kill-${contender.id}`)
  writeFileSync(log, '')
  const ask = { url, log, width: WIDTH, count: jobs }
  await answerOf(contender, place, { ...ask, act: 'fill' })
  // By itself while a job runs: a signal from here would come between two groups of jobs as often as not.
  const first = await started(contender, place, { ...ask, act: 'serve', killAt: Math.ceil(jobs / 3) })
  const watcher = await started(contender, place, { ...ask, act: 'watch' })
  let done = 0
  watcher.on('message', (count: number) => (done = count))
  const children: ChildProcess[] = [first, watcher]
  try {
    if (!(await killed(first))) throw new Error('It ended before it was killed')
    const startMs = performance.now()
    children.push(await started(contender, place, { ...ask, act: 'serve' }))
    const left = await allDone(() => jobs - done, longestMs(contender, effort))
    const seconds = (performance.now() - startMs) / 1000
    const lines = readFileSync(log, 'utf8').trim().split('\n')
    return { seconds, left, twice: lines.length - new Set(lines).size }
  } finally {
    for (const child of children) child.kill('SIGKILL')
  }
}

function longestMs({ patience }: Contender, { longestSeconds }: KillEffort): number {
  return patience !== undefined && patience.seconds > longestSeconds ? 0 : longestSeconds * 1000
}

/** How many are left: none, or those that somebody waits for longer than we do. */
async function allDone(left: () => number, mostMs: number): Promise<number> {
  const startMs = performance.now()
  let [least, sinceMs] = [left(), startMs]
  while (left() > 0) {
    const now = performance.now()
    if (left() < least) [least, sinceMs] = [left(), now]
    if (now - sinceMs > STILL_MS && now - startMs > mostMs) return left()
    await sleep(5)
  }
  return 0
}

/** Whether it was, and did not end by itself. */
async function killed(child: ChildProcess): Promise<boolean> {
  const timer = setTimeout(() => child.kill('SIGTERM'), LONGEST_START_MS)
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  clearTimeout(timer)
  return child.signalCode === 'SIGKILL'
}

/** For a third of the jobs. */
const LONGEST_START_MS = 120_000
