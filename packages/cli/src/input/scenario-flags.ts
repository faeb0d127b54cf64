/**
 * The scenario of a simulation as flags describe it, and what is said of it in the words of flags. Imports the
 * simulator's types, the table of flags and their values.
 */
import { InputError } from '@reprise/workflow'
import { type FieldWords, kebabCase } from '@reprise/workflow/internal'
import { formatDuration, isRepriseError, OptionsError } from 'reprise'
import type { ScenarioInput } from 'reprise/simulate'
import { type FlagEntry, flagName, optionName, SCENARIO_FLAGS, type ScenarioFlagTexts } from '../flag-table.js'
import { FlagReader } from './flag-values.js'
import { refuseOptions } from './refused-options.js'

export interface ScenarioFlags {
  /** Only what was given; durations in milliseconds. */
  readonly scenario: ScenarioInput
  readonly seed: number
}

const MAX_SEED = 0xffff_ffff

/** Throws every problem at once. */
export function readScenarioFlags(texts: ScenarioFlagTexts): ScenarioFlags {
  const reader = new FlagReader()
  const { seed = 1, ...scenario } = readFields(texts, reader)
  if (!Number.isInteger(seed) || seed < 0 || seed > MAX_SEED) {
    reader.fail('--seed', `${seed} is not a whole number from 0 to ${MAX_SEED}`)
  }
  if (reader.problems.length > 0) throw new InputError(reader.problems)
  return { scenario, seed }
}

type ScenarioFields = ScenarioInput & { readonly seed?: number }

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
  return flag === undefined ? `--${kebabCase(field)}` : flagName(flag)
}

/** `--queue 4s`. */
export const flagWords: FieldWords = (field, value) => `${flagOf(field)}${value === undefined ? '' : ` ${value}`}`

/** We hand over milliseconds; people wrote something with a unit. */
function withUnits(message: string): string {
  return message.replace(/^[\d.]+(?= is not a duration)/, (ms) => formatDuration(Number(ms)))
}
