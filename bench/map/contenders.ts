/**
 * Programs that work on items, each in a process of its own, and what they took: of the processors with all that they
 * started, without the start of the program. Imports the costs of the workflow's benchmarks.
 */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { inNewDirectory } from '../ledger/scratch.js'
import { median, shuffled } from '../ledger/statistics.js'
import { type Cost, costOf } from '../workflow/costs.js'
import { OUT } from './build.mjs'
import type { Way, Work } from './items.js'

const run = promisify(execFile)
export const COMMAND = fileURLToPath(new URL('../../packages/cli/bin/reprise.js', import.meta.url))
const peer = (name: string): string => fileURLToPath(new URL(`peers/${name}.mjs`, import.meta.url))

/** The servers of peers. */
export interface Servers {
  readonly redisPort: number | null
  readonly postgresUrl: string
}

/** Milliseconds for all items. */
export type Contender = (count: number) => Promise<Cost>

/** In turns of random order; medians over the rounds. */
export async function inTurns(
  contenders: Readonly<Record<string, Contender>>,
  rounds: number,
  count: number,
): Promise<Map<string, Cost>> {
  const all = new Map(Object.keys(contenders).map((name) => [name, [] as Cost[]]))
  for (let round = 0; round < rounds; round++) {
    for (const [name, work] of shuffled(Object.entries(contenders))) all.get(name)?.push(await work(count))
  }
  return new Map(
    [...all].map(([name, costs]) => [
      name,
      { wallMs: median(costs.map(({ wallMs }) => wallMs)), cpuMs: median(costs.map(({ cpuMs }) => cpuMs)) },
    ]),
  )
}

export function workedBy(way: Way, count: number, width: number): Promise<Work> {
  return inNewDirectory(async (directory) => {
    const { stdout } = await run(process.execPath, [
      `${OUT}items-child.js`,
      way,
      directory,
      ...[count, width].map(String),
    ])
    return JSON.parse(stdout) as Work
  })
}

/** Items in the process of the program. */
export function inProcess(width: number, servers: Servers): Record<string, Contender> {
  const own = (way: Way) => async (count: number) => {
    const { seconds, cpuUs } = await workedBy(way, count, width)
    return { wallMs: seconds * 1000, cpuMs: cpuUs / 1000 }
  }
  return {
    'a map of `script:` items': own('map'),
    'the library, a durable task each': own('library'),
    'the ledger by hand': own('floor'),
    ...peers('nothing', width, servers),
  }
}

/** A process for each item. */
export function processes(
  width: number,
  servers: Servers,
  hasParallel: boolean,
  hasBatch: boolean,
): Record<string, Contender> {
  const words =
    (text: (count: number) => string): Contender =>
    (count) =>
      inNewDirectory((cwd) => costOf(['sh', '-c', text(count)], { cwd }))
  return {
    'a bare spawn from Node': (count) => lessStart([process.execPath, `${OUT}spawns-child.js`], count, [width]),
    'a map of `run:` items': mapOf(width, 1),
    ...(hasBatch && { 'a map of `run:` items, `batch: 50`': mapOf(width, 50) }),
    '`xargs -n1 -P`': words((count) => `seq ${count} | xargs -n1 -P${width} true`),
    ...(hasParallel && {
      'GNU parallel with `--joblog`': words((count) => `seq ${count} | parallel -j${width} --joblog log true`),
    }),
    ...peers('spawn', width, servers),
  }
}

/** Less what the program takes with one item. */
async function lessStart(program: readonly string[], count: number, rest: readonly (string | number)[]): Promise<Cost> {
  const one = await costOf([...program, '1', ...rest.map(String)])
  return difference(await costOf([...program, String(count), ...rest.map(String)]), one)
}

const difference = (all: Cost, one: Cost): Cost => ({
  wallMs: all.wallMs - one.wallMs,
  cpuMs: all.cpuMs - one.cpuMs,
})

export const documentOf = (count: number, width: number, batch: number, step: object): string =>
  JSON.stringify({
    name: 'items',
    mode: 'mapreduce',
    map: { input: { range: [1, count] }, max_parallel: width, ...(batch > 1 && { batch }), agent_template: [step] },
  })

/** By the command, from its start to its end, less what it takes with one item. */
function mapOf(width: number, batch: number): Contender {
  const conduct = (count: number): Promise<Cost> =>
    inNewDirectory((cwd) => {
      writeFileSync(path.join(cwd, 'items.yaml'), documentOf(count, width, batch, { run: ['true'] }))
      return costOf([process.execPath, COMMAND, 'run', 'items.yaml'], { cwd })
    })
  return async (count) => {
    const one = await conduct(1)
    return difference(await conduct(count), one)
  }
}

function peers(
  operation: 'nothing' | 'spawn',
  width: number,
  { redisPort, postgresUrl }: Servers,
): Record<string, Contender> {
  const work = (name: string, place: string): Contender => {
    const rest = [width, operation, place]
    return (count) =>
      operation === 'spawn'
        ? lessStart([process.execPath, peer(name)], count, rest)
        : reported([process.execPath, peer(name), count, ...rest].map(String))
  }
  return {
    ...(redisPort !== null && { 'BullMQ, Redis without persistence': work('bullmq', String(redisPort)) }),
    'pg-boss': work('pg-boss', postgresUrl),
  }
}

async function reported([program = '', ...args]: readonly string[]): Promise<Cost> {
  const { stdout } = await run(program, args)
  const { seconds, cpuUs } = JSON.parse(stdout) as Work
  return { wallMs: seconds * 1000, cpuMs: cpuUs / 1000 }
}

/** Whether this build knows `batch`. */
export async function knowsBatch(): Promise<boolean> {
  return inNewDirectory(async (cwd) => {
    writeFileSync(path.join(cwd, 'items.yaml'), documentOf(2, 1, 2, { run: ['true'] }))
    return run(process.execPath, [COMMAND, 'validate', 'items.yaml'], { cwd }).then(
      () => true,
      () => false,
    )
  })
}
