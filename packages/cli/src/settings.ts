/**
 * The flags that every command has, each also as a variable of the environment; the flag wins.
 * Imports commander, the default store and the errors of a wrong use.
 */
import { DEFAULT_STORE } from '@reprise/workflow/internal'
import { type Command, Option } from 'commander'
import { UsageError } from './failures.js'
import type { ProcessIo } from './process-io.js'

export const COLOR_MODES = ['auto', 'always', 'never'] as const
const TRUE = /^(1|true|yes|on)$/i
export type ColorMode = (typeof COLOR_MODES)[number]

export interface Settings {
  /** The address of the ledger. */
  readonly store: string
  readonly json: boolean
  /** Events as lines of JSON on stdout, while they happen. A command that has events to tell looks at this first. */
  readonly ndjson: boolean
  readonly quiet: boolean
  readonly verbose: boolean
  readonly color: ColorMode
  /** Whether a person may be asked. */
  readonly input: boolean
}

/** Option, variable, and what it is for. */
export const SETTINGS: readonly (readonly [flags: string, variable: string, text: string])[] = [
  ['--store <url>', 'REPRISE_STORE', `where runs are kept (default: ${DEFAULT_STORE})`],
  ['--json', 'REPRISE_JSON', 'print data for programs'],
  ['--ndjson', 'REPRISE_NDJSON', 'print events while they happen, a line of JSON each'],
  ['-q, --quiet', 'REPRISE_QUIET', 'print only what was asked for, and failures'],
  ['-v, --verbose', 'REPRISE_VERBOSE', 'print every detail'],
  ['--color <when>', 'REPRISE_COLOR', 'when to use colours'],
  ['--no-input', 'REPRISE_NO_INPUT', 'never prompt for input'],
]

export function addSettings(program: Command): void {
  for (const [flags, , text] of SETTINGS) {
    const option = new Option(flags, text)
    program.addOption(flags.startsWith('--color') ? option.choices(COLOR_MODES) : option)
  }
}

export function readSettings(program: Command, env: ProcessIo['env']): Settings {
  const given = (name: string): unknown =>
    program.getOptionValueSource(name) === 'cli' ? program.getOptionValue(name) : undefined
  const flag = (name: string, variable: string): boolean =>
    (given(name) as boolean | undefined) ?? readFlag(variable, env[variable])
  const isJson = given('json') === true
  if (isJson && given('ndjson') === true) {
    throw new UsageError('--json and --ndjson both want stdout', 'give one of them')
  }
  return {
    store: (given('store') as string | undefined) ?? (env['REPRISE_STORE'] || DEFAULT_STORE),
    json: flag('json', 'REPRISE_JSON'),
    ndjson: !isJson && flag('ndjson', 'REPRISE_NDJSON'),
    quiet: flag('quiet', 'REPRISE_QUIET'),
    verbose: flag('verbose', 'REPRISE_VERBOSE'),
    color: (given('color') as ColorMode | undefined) ?? readColor(env['REPRISE_COLOR']),
    input: (given('input') as boolean | undefined) ?? !readFlag('REPRISE_NO_INPUT', env['REPRISE_NO_INPUT']),
  }
}

/** How programs want to be told, before anything is parsed: for what is wrong with the arguments themselves. */
export function wantsData(args: readonly string[], env: ProcessIo['env']): Pick<Settings, 'json' | 'ndjson'> {
  const end = args.indexOf('--')
  const own = args.slice(0, end < 0 ? args.length : end)
  return {
    json: own.includes('--json') || TRUE.test(env['REPRISE_JSON'] ?? ''),
    ndjson: own.includes('--ndjson') || TRUE.test(env['REPRISE_NDJSON'] ?? ''),
  }
}

function readFlag(variable: string, value = ''): boolean {
  if (TRUE.test(value)) return true
  if (/^(0|false|no|off|)$/i.test(value)) return false
  throw new UsageError(`${variable}=${value} is neither 1 nor 0`)
}

function readColor(value = ''): ColorMode {
  const mode = COLOR_MODES.find((candidate) => candidate === value)
  if (mode !== undefined || value === '') return mode ?? 'auto'
  throw new UsageError(`REPRISE_COLOR=${value} is not one of ${COLOR_MODES.join(', ')}`)
}
