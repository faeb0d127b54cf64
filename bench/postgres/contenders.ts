/** Who takes part, and the processes that do it. Imports Node and where programs are bundled. */
import { execFile, fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Ask } from './acts.mjs'
import { OUT } from './build.mjs'
import type { Place } from './place.js'

/** What decides when the work of a killed process is done by another, if nobody is told that it died. */
interface Patience {
  readonly seconds: number
  readonly setting: string
}

export interface Contender {
  readonly id: string
  readonly title: string
  readonly kind: 'floor' | 'library' | 'peer'
  /** Of what the row asks for. */
  readonly lacks?: string
  readonly module?: string
  readonly service?: 'redis' | 'restate'
  readonly options?: Readonly<Record<string, unknown>>
  readonly patience?: Patience
  /** Why it takes no part. */
  readonly missing?: string
}

const FOUR_HOURS = { seconds: 14_400, setting: 'its locks last 4 hours' }
const GRAPHILE = {
  kind: 'peer',
  module: 'graphile-worker',
  lacks: 'no history, no fence',
  patience: FOUR_HOURS,
} as const

export const CONTENDERS: readonly Contender[] = [
  { id: 'floor', title: 'floor', kind: 'floor' },
  { id: 'library', title: 'Reprise', kind: 'library' },
  { id: 'dbos', title: 'DBOS', kind: 'peer', module: 'dbos', lacks: 'retry count not durable' },
  {
    id: 'absurd',
    title: 'absurd',
    kind: 'peer',
    missing: 'its npm package has no SQL, and the tool that installs it is not on npm',
  },
  { id: 'restate', title: 'Restate', kind: 'peer', module: 'restate', service: 'restate', lacks: 'its own log' },
  {
    id: 'openworkflow',
    title: 'openworkflow',
    kind: 'peer',
    module: 'openworkflow',
    patience: { seconds: 30, setting: 'its leases last 30 s' },
  },
  {
    id: 'pg-boss',
    title: 'pg-boss',
    kind: 'peer',
    module: 'pg-boss',
    lacks: 'no history, no fence',
    patience: { seconds: 900, setting: 'expireInSeconds, 15 minutes by default' },
  },
  { id: 'graphile', title: 'graphile-worker', ...GRAPHILE },
  { id: 'graphile-tuned', title: 'graphile-worker, tuned', options: { tuned: true }, ...GRAPHILE },
  {
    id: 'bullmq',
    title: 'BullMQ',
    kind: 'peer',
    module: 'bullmq',
    service: 'redis',
    lacks: 'no fsync',
    patience: { seconds: 60, setting: 'stalledInterval and lockDuration, 30 s each by default' },
  },
]

const directory = fileURLToPath(new URL('.', import.meta.url))
const run = promisify(execFile)

/** Left out, and why. */
export class Missing extends Error {}

function program({ kind, id, module = '' }: Contender): string[] {
  return kind === 'peer' ? [`${directory}peers/child.mjs`, module] : [`${OUT}own-child.js`, id]
}

/** The whole question: where its servers are, and what it is asked. */
async function questionFor(contender: Contender, place: Place, ask: Ask): Promise<string> {
  if (contender.missing !== undefined) throw new Missing(contender.missing)
  const service = contender.service === undefined ? { place: {} } : await place.service(contender.service)
  if ('missing' in service) throw new Missing(service.missing)
  return JSON.stringify({ ...ask, ...contender.options, ...service.place })
}

/** Of one process. */
const LONGEST_MS = 120_000

/** Its last line, as JSON; undefined if it printed nothing. */
export async function answerOf(contender: Contender, place: Place, ask: Ask, flags: string[] = []): Promise<unknown> {
  const args = [...flags, '--no-deprecation', ...program(contender), await questionFor(contender, place, ask)]
  const { stdout } = await run(process.execPath, args, { cwd: directory, timeout: LONGEST_MS, maxBuffer: 1e7 })
  const line = stdout.trim().split('\n').at(-1) ?? ''
  return line === '' ? undefined : JSON.parse(line)
}

export async function started(contender: Contender, place: Place, ask: Ask): Promise<ChildProcess> {
  const [file = '', ...args] = program(contender)
  return fork(file, [...args, await questionFor(contender, place, ask)], {
    cwd: directory,
    execArgv: ['--no-deprecation'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
}
