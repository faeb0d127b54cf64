/**
 * The storm as flags describe it, made whole: what `--json` prints is everything that was simulated.
 * Imports the simulator's words, the table of flags and their values.
 */
import { InputError } from '@reprise/workflow'
import { formatDuration, isRepriseError, OptionsError } from 'reprise'
import type { FaultKind, ScenarioInput, ServiceShape } from 'reprise/simulate'
import { type FlagEntry, flagName, optionName, SCENARIO_FLAGS, type ScenarioFlagTexts } from '../flag-table.js'
import { FlagReader } from './flag-values.js'
import { refuseOptions } from './refused-options.js'

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
  readonly faultShare: number
  readonly keyed: boolean
  readonly burst: number
  readonly restartAt: number
  readonly ignoresSignal: boolean
  readonly neighbours: number
}

const DURATIONS = ['serviceTime', 'queue', 'before', 'during', 'after', 'restartAt'] as const

/** The scenario with its durations as people write them: a number would not say its unit. */
export function writtenScenario(scenario: StormScenario): ScenarioInput {
  const texts = Object.fromEntries(DURATIONS.map((name) => [name, formatDuration(scenario[name])]))
  return { ...scenario, ...texts }
}

export interface ScenarioFlags {
  readonly scenario: StormScenario
  readonly seed: number
  readonly notes: readonly string[]
}

const MAX_SEED = 0xffff_ffff

/** What a fault is of, where it can be more or less. */
const AMOUNTS: Partial<Record<FaultKind, number>> = { capacity: 0.5, slow: 3, errors: 0.2, overload: 1.4 }

/** What a scenario is when nothing is said of it; the help of the flags says the same. */
const USUAL: Omit<StormScenario, 'amount'> = {
  clients: 100,
  load: 0.75,
  capacity: 1000,
  serviceTime: 20,
  serviceShape: 'exponential',
  queue: 2000,
  fault: 'hang',
  before: 30_000,
  during: 30_000,
  after: 120_000,
  errorRate: 0,
  faultShare: 1,
  keyed: false,
  burst: 0,
  restartAt: 0,
  ignoresSignal: false,
  neighbours: 0,
}

/** Throws every problem at once. */
export function readScenarioFlags(texts: ScenarioFlagTexts): ScenarioFlags {
  const reader = new FlagReader()
  const { seed = 1, amount, ...given } = readFields(texts, reader)
  if (!Number.isInteger(seed) || seed < 0 || seed > MAX_SEED) {
    reader.fail('--seed', `${seed} is not a whole number from 0 to ${MAX_SEED}`)
  }
  if (reader.problems.length > 0) throw new InputError(reader.problems)
  const { fault } = { ...USUAL, ...given }
  const usual = AMOUNTS[fault]
  const scenario: StormScenario = { ...USUAL, ...given, ...(usual !== undefined && { amount: amount ?? usual }) }
  const isUnused = amount !== undefined && usual === undefined
  return { scenario, seed, notes: isUnused ? [`\`--amount\` has no effect on the fault ${fault}.`] : [] }
}

type ScenarioFields = Partial<StormScenario> & { readonly seed?: number }

/** Only what was given, and what of it can be read. */
function readFields(texts: ScenarioFlagTexts, reader: FlagReader): ScenarioFields {
  const given = texts as Readonly<Record<string, string | true | undefined>>
  const read = SCENARIO_FLAGS.map((flag) => [flag.field, readFlag(flag, given[optionName(flag)], reader)] as const)
  return Object.fromEntries(read.filter(([, value]) => value !== undefined))
}

function readFlag(flag: FlagEntry, text: string | true | undefined, reader: FlagReader): unknown {
  if (text === undefined || text === true) return text
  const name = flagName(flag)
  if (flag.kind === 'number') return reader.number(name, text)
  // A word is one of the choices in the table: the parser has checked it.
  return flag.kind === 'duration' ? reader.duration(name, text) : text
}

/** What the simulator found wrong, in the words of the flags. Any other error is thrown as it is. */
export function refuseScenario(error: unknown): never {
  if (!isRepriseError(error, 'invalid_options')) throw error
  const problems = error.problems.map(({ path, message, suggestion }) => ({
    path,
    message: path === '' ? `${message} for a simulation` : withUnits(message),
    ...(suggestion !== undefined && { suggestion: inFlags(suggestion) }),
  }))
  return refuseOptions(new OptionsError(error.subject, problems), flagOf)
}

function inFlags(suggestion: string): string {
  return suggestion.replace('capacity, load', '`--capacity`, `--load`').replace('the times', '`--outage`')
}

/** What the library calls a field, by what it was asked for. */
function flagOf(field: string): string {
  const flag = SCENARIO_FLAGS.find((one) => one.field === field)
  return flag === undefined ? `--${field}` : flagName(flag)
}

/** We hand over milliseconds; people wrote something with a unit. */
function withUnits(message: string): string {
  return message.replace(/^[\d.]+(?= is not a duration)/, (ms) => formatDuration(Number(ms)))
}
