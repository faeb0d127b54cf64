/**
 * The storm as flags describe it, made whole: what `--json` prints is everything that was simulated.
 * Imports the simulator's words and the values of flags.
 */
import { InputError, type Problem } from '@reprise/workflow'
import { formatDuration } from 'reprise'
import { FAULT_KINDS, type FaultKind, ScenarioError, type ScenarioInput, type ServiceShape } from 'reprise/simulate'
import { FlagReader } from './flag-values.js'

/** As commander hands them over. */
export interface ScenarioFlagTexts {
  readonly fault?: string
  readonly amount?: string
  readonly outage?: string
  readonly failRate?: string
  readonly clients?: string
  readonly load?: string
  readonly capacity?: string
  readonly serviceTime?: string
  readonly queue?: string
  readonly seed?: string
}

/** What the library calls a scenario, with nothing left out and every duration in milliseconds. */
export interface StormScenario extends ScenarioInput {
  readonly clients: number
  readonly load: number
  readonly capacity: number
  readonly serviceTime: number
  readonly serviceShape: ServiceShape
  readonly queue: number
  readonly fault: FaultKind
  readonly before: number
  readonly during: number
  readonly after: number
  readonly errorRate: number
}

export interface ScenarioFlags {
  readonly scenario: StormScenario
  readonly seed: number
  readonly notes: readonly string[]
}

const MAX_SEED = 0xffff_ffff

/** Names and what they are for, as help shows them. */
export const SCENARIO_FLAGS = [
  ['--fault <word>', 'hang, refuse, capacity, slow, errors, flap, overload or none (default: hang)'],
  [
    '--amount <n>',
    'capacity: share that is left (0.5); slow, overload: how many times (3, 1.4); errors: share that fails (0.2)',
  ],
  ['--outage <time>', 'how long the fault lasts (30s)'],
  ['--fail-rate <share>', 'answers that fail by chance, always (0)'],
  ['--clients <n>', 'callers, each with budgets of its own (100)'],
  ['--load <share>', 'calls offered, as a share of what the server can do (0.75)'],
  ['--capacity <n>', 'answers per second that the server can do (1000)'],
  ['--service-time <time>', 'mean time to serve one request (20ms)'],
  ['--queue <time>', "the server's queue, in time at full capacity (2s)"],
  ['--seed <n>', 'the same seed gives the same figures (1)'],
] as const

/** What a fault is of, where it can be more or less. */
const AMOUNTS: Partial<Record<FaultKind, number>> = { capacity: 0.5, slow: 3, errors: 0.2, overload: 1.4 }

/** What the library calls the fields, and who asked for them. */
const FLAG_OF: Readonly<Record<string, string>> = {
  during: '--outage',
  errorRate: '--fail-rate',
  serviceTime: '--service-time',
}

/** Throws every problem at once. */
export function readScenarioFlags(texts: ScenarioFlagTexts): ScenarioFlags {
  const reader = new FlagReader()
  const fault = reader.word('--fault', texts.fault, FAULT_KINDS) ?? 'hang'
  const amount = reader.number('--amount', texts.amount)
  const seed = reader.number('--seed', texts.seed) ?? 1
  if (!Number.isInteger(seed) || seed < 0 || seed > MAX_SEED) {
    reader.fail('--seed', `${seed} is not a whole number from 0 to ${MAX_SEED}`)
  }
  const usual = AMOUNTS[fault]
  const scenario: StormScenario = {
    clients: reader.number('--clients', texts.clients) ?? 100,
    load: reader.number('--load', texts.load) ?? 0.75,
    capacity: reader.number('--capacity', texts.capacity) ?? 1000,
    serviceTime: reader.duration('--service-time', texts.serviceTime) ?? 20,
    serviceShape: 'exponential',
    queue: reader.duration('--queue', texts.queue) ?? 2000,
    fault,
    ...(usual !== undefined && { amount: amount ?? usual }),
    before: 30_000,
    during: reader.duration('--outage', texts.outage) ?? 30_000,
    after: 120_000,
    errorRate: reader.number('--fail-rate', texts.failRate) ?? 0,
  }
  if (reader.problems.length > 0) throw new InputError(reader.problems)
  const isUnused = amount !== undefined && usual === undefined
  return { scenario, seed, notes: isUnused ? [`\`--amount\` says nothing about the fault ${fault}.`] : [] }
}

/** What the simulator found wrong, in the words of the flags. Any other error is thrown as it is. */
export function refuseScenario(error: unknown): never {
  if (!(error instanceof ScenarioError)) throw error
  throw new InputError([scenarioProblem(error.message.replace(/^Scenario /, ''))])
}

function scenarioProblem(said: string): Problem {
  const [, name, rest] = /^(\w+): (.*)$/s.exec(said) ?? []
  if (name !== undefined) return { message: `${FLAG_OF[name] ?? `--${name}`}: ${withUnits(rest ?? '')}` }
  const [what = '', cure = ''] = said.split(': ')
  const suggestion = cure.replace('capacity, load', '`--capacity`, `--load`').replace('the times', '`--outage`')
  return { message: `a simulation ${what}`, ...(suggestion !== '' && { suggestion }) }
}

/** We hand over milliseconds; people wrote something with a unit. */
function withUnits(message: string): string {
  return message.replace(/^[\d.]+(?= is not a duration)/, (ms) => formatDuration(Number(ms)))
}
