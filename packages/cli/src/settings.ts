/**
 * The flags that every command has, each also as a variable of the environment; the flag wins.
 * Imports commander and the problem type.
 */
import { InputError } from '@reprise/workflow'
import { type Command, Option } from 'commander'
import type { World } from './world.js'

const COLOR_MODES = ['auto', 'always', 'never'] as const
const TRUE = /^(1|true|yes|on)$/i
export type ColorMode = (typeof COLOR_MODES)[number]

export interface Settings {
  readonly json: boolean
  readonly quiet: boolean
  readonly verbose: boolean
  readonly color: ColorMode
  /** Whether a person may be asked. */
  readonly input: boolean
}

export const ENVIRONMENT_HELP = `
Environment:
  REPRISE_JSON, REPRISE_QUIET, REPRISE_VERBOSE, REPRISE_NO_INPUT=1 and REPRISE_COLOR=WHEN stand for the options.
  NO_COLOR and CI switch colours off.

Exit codes:
  0 done   2 usage, or an invalid file: nothing was executed   70 a bug of ours
  74 the output cannot be written`

export function addSettings(program: Command): void {
  program
    .option('--json', 'print data for programs')
    .option('-q, --quiet', 'print only what was asked for')
    .option('-v, --verbose', 'leave nothing out')
    .addOption(new Option('--color <when>', 'when to use colours').choices(COLOR_MODES))
    .option('--no-input', 'never ask, never wait for somebody to type')
}

export function readSettings(program: Command, env: World['env']): Settings {
  const given = (name: string): unknown =>
    program.getOptionValueSource(name) === 'cli' ? program.getOptionValue(name) : undefined
  const flag = (name: string, variable: string): boolean =>
    (given(name) as boolean | undefined) ?? readFlag(variable, env[variable])
  return {
    json: flag('json', 'REPRISE_JSON'),
    quiet: flag('quiet', 'REPRISE_QUIET'),
    verbose: flag('verbose', 'REPRISE_VERBOSE'),
    color: (given('color') as ColorMode | undefined) ?? readColor(env['REPRISE_COLOR']),
    input: (given('input') as boolean | undefined) ?? !readFlag('REPRISE_NO_INPUT', env['REPRISE_NO_INPUT']),
  }
}

/** Before anything is parsed, for what is wrong with the arguments themselves. */
export function wantsJson(args: readonly string[], env: World['env']): boolean {
  const end = args.indexOf('--')
  if (args.slice(0, end < 0 ? args.length : end).includes('--json')) return true
  return TRUE.test(env['REPRISE_JSON'] ?? '')
}

function readFlag(variable: string, value = ''): boolean {
  if (TRUE.test(value)) return true
  if (/^(0|false|no|off|)$/i.test(value)) return false
  throw new InputError([{ message: `${variable}=${value} is neither 1 nor 0` }])
}

function readColor(value = ''): ColorMode {
  const mode = COLOR_MODES.find((candidate) => candidate === value)
  if (mode !== undefined || value === '') return mode ?? 'auto'
  throw new InputError([{ message: `REPRISE_COLOR=${value} is not one of ${COLOR_MODES.join(', ')}` }])
}
