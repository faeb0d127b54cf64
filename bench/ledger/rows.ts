/** What is measured beside rates: kills, restarts, memory, start and several processes. Imports the children. */
import { readFileSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { openChosenDatabase } from '../../test/chosen-driver.js'
import { OUT } from './build.mjs'
import { answerOf, ended, lifetimeMs, messageOf, started } from './processes.js'
import type { Line } from './report.js'
import { inNewDirectory } from './scratch.js'
import { median, shuffled } from './statistics.js'

export interface Effort {
  readonly quick: boolean
  readonly rounds: number
}

/** A process that works on 10 000 recorded jobs is killed after about a third; another one goes on. */
export async function measureKill({ quick, rounds }: Effort): Promise<Line[]> {
  const jobs = quick ? 2000 : 10_000
  const all: { seconds: number; twice: number; inFlight: number }[] = []
  for (let i = 0; i < rounds; i++) all.push(await inNewDirectory((directory) => killed(directory, jobs)))
  const what = `kill -9 amid ${jobs} jobs`
  const twice = Math.max(...all.map((one) => one.twice - one.inFlight))
  const seconds = median(all.map((one) => one.seconds))
  return [
    { what: `${what}: all complete after, in a new process`, value: seconds, unit: 's', most: { goal: 2, stretch: 1 } },
    { what: `${what}: ran twice`, value: median(all.map((one) => one.twice)), unit: 'jobs' },
    { what: `${what}: ran twice beyond those in flight, at most`, value: twice, unit: 'jobs', most: { goal: 0 } },
  ]
}

async function killed(directory: string, jobs: number): Promise<{ seconds: number; twice: number; inFlight: number }> {
  const [file, log] = [`${directory}/ledger`, `${directory}/log`]
  await answerOf('kill-child', ['fill', file, log, String(jobs)])
  const first = started('kill-child', ['work', file, log])
  while (statSync(log).size < jobs * 1.5) await sleep(1)
  first.kill('SIGKILL')
  const startMs = performance.now()
  await ended(first)
  const second = started('kill-child', ['work', file, log])
  const database = await openChosenDatabase(file)
  const done = database.prepare("SELECT count(*) AS n FROM tasks WHERE status = 'succeeded'")
  while ((done.get() as { n: number }).n < jobs) await sleep(5)
  const seconds = (performance.now() - startMs) / 1000
  const interrupted = database.prepare("SELECT count(*) AS n FROM attempts WHERE outcome = 'interrupted'").get()
  database.close()
  second.send('end')
  await ended(second)
  const lines = readFileSync(log, 'utf8').trim().split('\n')
  return { seconds, twice: lines.length - new Set(lines).size, inFlight: (interrupted as { n: number }).n }
}

interface Restart {
  readonly firstMs: number
  readonly resumeMs: number
  readonly rssMb: number
  readonly stallMs: number
}

/** Tasks that wait after a failed attempt, and tasks that have made none. */
const WAITS = [
  { fill: 'fill', what: 'waiting tasks' },
  { fill: 'fill-fresh', what: 'fresh tasks' },
] as const
const MOST_RESUME_S: Readonly<Record<number, number>> = { 100_000: 0.5, 1_000_000: 2 }

export async function measureRestart({ quick, rounds }: Effort): Promise<Line[]> {
  const lines: Line[] = []
  for (const count of quick ? [100_000] : [100_000, 1_000_000]) {
    for (const { fill, what } of WAITS) {
      const all = await inNewDirectory((directory) => restarts(directory, fill, count, rounds))
      const of = (which: keyof Restart): number => median(all.map((one) => one[which]))
      const tasks = `Restart with ${count} ${what}`
      const most = count === 100_000 ? { most: { goal: 2, stretch: 0.5 } } : {}
      const goal = MOST_RESUME_S[count]
      const whole = goal === undefined ? {} : { most: { goal } }
      lines.push(
        { what: `${tasks}: until the first due one runs`, value: of('firstMs') / 1000, unit: 's', ...most },
        { what: `${tasks}: resume()`, value: of('resumeMs') / 1000, unit: 's', ...whole },
        { what: `${tasks}: longest stall of the event loop`, value: of('stallMs'), unit: 'ms' },
        { what: `${tasks}: memory, at most`, value: of('rssMb'), unit: 'MB', most: { goal: 300 } },
      )
    }
  }
  return lines
}

async function restarts(directory: string, fill: string, count: number, rounds: number): Promise<Restart[]> {
  const all: Restart[] = []
  for (let i = 0; i < rounds; i++) {
    const file = `${directory}/ledger${i}`
    await answerOf('restart-child', [fill, file, String(count)])
    all.push((await answerOf('restart-child', ['open', file])) as Restart)
  }
  return all
}

export async function measureMemory({ quick, rounds }: Effort): Promise<Line[]> {
  const all: number[] = []
  for (let i = 0; i < rounds; i++) {
    const args = (directory: string): string[] => [`${directory}/ledger`, quick ? '5000' : '50000']
    const answer = await inNewDirectory((directory) => answerOf('memory-child', args(directory), ['--expose-gc']))
    all.push((answer as { bytes: number }).bytes)
  }
  const value = Math.max(0, median(all))
  return [{ what: 'Heap for each waiting task', value, unit: 'B', most: { goal: 64, stretch: 32 } }]
}

/** Processes in turns: bare, with one commit by the driver, with one durable step in a new file and in an old one. */
export async function measureStart({ quick }: Effort): Promise<Line[]> {
  const programs = {
    bare: () => lifetimeMs(['-e', '0']),
    driver: () => inNewDirectory((directory) => lifetimeMs([`${OUT}driver-child.js`, `${directory}/file`])),
    fresh: () => inNewDirectory((directory) => lifetimeMs([`${OUT}start-child.js`, `${directory}/ledger`])),
    old: () =>
      inNewDirectory(async (directory) => {
        await lifetimeMs([`${OUT}start-child.js`, `${directory}/ledger`])
        return lifetimeMs([`${OUT}start-child.js`, `${directory}/ledger`])
      }),
  }
  const times: Record<keyof typeof programs, number[]> = { bare: [], driver: [], fresh: [], old: [] }
  for (let i = 0; i < (quick ? 5 : 25); i++) {
    for (const name of shuffled(Object.keys(programs) as (keyof typeof programs)[]))
      times[name].push(await programs[name]())
  }
  const bareMs = median(times.bare)
  const most = { goal: 3, stretch: 2.4 }
  return [
    { what: 'Process start to end, bare Node', value: bareMs, unit: 'ms' },
    { what: '… with one commit by the driver alone ÷ bare', value: median(times.driver) / bareMs, unit: '×' },
    { what: '… with one durable step, ledger exists ÷ bare', value: median(times.old) / bareMs, unit: '×', most },
    { what: '… with one durable step, ledger is made ÷ bare', value: median(times.fresh) / bareMs, unit: '×', most },
  ]
}

interface Share {
  readonly rate: number
  readonly p99Ms: number
  readonly maxMs: number
}

/** Against as many processes with a file each: what a crowded machine does to an event loop is none of the file's doing. */
export async function measureShared({ quick, rounds }: Effort): Promise<Line[]> {
  const settings = [1, 2, 4, 8].flatMap((count) => [
    { count, shared: true, shares: [] as Share[][] },
    ...(count === 1 ? [] : [{ count, shared: false, shares: [] as Share[][] }]),
  ])
  for (let i = 0; i < rounds; i++) {
    for (const { count, shared, shares } of shuffled(settings)) {
      shares.push(await together(count, shared, quick ? 1 : 3))
    }
  }
  return settings.flatMap(({ count, shared, shares }): Line[] => {
    const where = shared ? 'one file' : 'a file each'
    const who = count === 1 ? '1 process' : `${count} processes on ${where}`
    const of = (how: (all: Share[]) => number): number => median(shares.map(how))
    return [
      { what: `${who}: steps in all`, value: of((all) => all.reduce((sum, { rate }) => sum + rate, 0)), unit: '/s' },
      { what: `${who}: least share ÷ largest`, value: of(fairness), unit: '×' },
      {
        what: `${who}: event-loop delay p99`,
        value: of((all) => Math.max(...all.map((one) => one.p99Ms))),
        unit: 'ms',
      },
      {
        what: `${who}: event-loop delay, longest`,
        value: of((all) => Math.max(...all.map((one) => one.maxMs))),
        unit: 'ms',
      },
    ]
  })
}

function fairness(all: Share[]): number {
  const rates = all.map(({ rate }) => rate)
  return Math.min(...rates) / Math.max(...rates)
}

function together(count: number, shared: boolean, seconds: number): Promise<Share[]> {
  return inNewDirectory(async (directory) => {
    const children = Array.from({ length: count }, (_, i) =>
      started('shared-child', [`${directory}/ledger${shared ? '' : i}`, String(seconds)]),
    )
    await Promise.all(children.map(messageOf))
    const shares = children.map(async (child) => (await messageOf(child)) as Share)
    for (const child of children) child.send('go')
    const all = await Promise.all(shares)
    await Promise.all(children.map(ended))
    return all
  })
}
