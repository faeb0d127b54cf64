/**
 * What can be typed after `reprise`, for completion in shells: commands, flags and values, made from the table of
 * commands and the settings. The scripts of all shells are made from this. Imports the frame's tables and types.
 */
import { type CommandEntry, type CommandGroup, type CommandOption, isThere } from '../command.js'
import { COLOR_MODES, SETTINGS } from '../settings.js'
import type { LiveKind } from '../live-command.js'

/** What a value can be. `command`: a program and its arguments. */
export type Completed =
  | { readonly type: 'nothing' | 'files' | 'directories' | 'command' }
  | { readonly type: 'words'; readonly words: readonly string[] }
  | { readonly type: 'live'; readonly kind: LiveKind }

export interface CompletedFlag {
  /** `-f` and `--follow`. */
  readonly names: readonly string[]
  readonly text: string
  /** Absent for a flag without a value. */
  readonly value?: Completed
  readonly repeats: boolean
}

export interface CompletedCommand {
  /** `['store', 'backup']`; empty for `reprise` itself. */
  readonly path: readonly string[]
  readonly text: string
  readonly subcommands: readonly { readonly name: string; readonly text: string }[]
  readonly flags: readonly CompletedFlag[]
  /** In order; `isRest` says that the last one may be given many times. */
  readonly values: readonly Completed[]
  readonly isRest: boolean
}

/** Flags that every command has. */
export const GLOBAL_FLAGS: readonly CompletedFlag[] = [
  ...SETTINGS.map(([flags, , text]) =>
    flagOf({ flags, text, ...(flags.startsWith('--color') && { choices: COLOR_MODES }) }, []),
  ),
  { names: ['-h', '--help'], text: 'print help', repeats: false },
]

/** `reprise` itself first, then every command with its subcommands after it. */
export function completedCommands(groups: readonly CommandGroup[]): CompletedCommand[] {
  const entries = groups.flatMap(({ commands }) => commands.filter(isThere))
  const version: CompletedFlag = { names: ['-V', '--version'], text: 'print the version', repeats: false }
  const subcommands = [...namesOf(entries), { name: 'help', text: 'print the help of a command' }]
  const root = { path: [], text: '', subcommands, flags: [version], values: [], isRest: false }
  const words = { type: 'words', words: entries.map(({ name }) => name) } as const
  const help = { path: ['help'], text: '', subcommands: [], flags: [], values: [words], isRest: false }
  return [root, ...entries.flatMap((entry) => commandsOf(entry, [])), help]
}

function commandsOf(entry: CommandEntry, above: readonly string[]): CompletedCommand[] {
  const path = [...above, entry.name]
  const { values = [], options = [], subcommands = [], summary } = entry
  const there = subcommands.filter(isThere)
  return [
    {
      path,
      text: summary,
      subcommands: namesOf(there),
      flags: options.map((option) => flagOf(option, path)),
      values: values.map(([value, , choices]) => completedValue(value, choices, path)),
      isRest: values.at(-1)?.[0].includes('...') === true,
    },
    ...there.flatMap((one) => commandsOf(one, path)),
  ]
}

function namesOf(entries: readonly CommandEntry[]): { name: string; text: string }[] {
  return entries.map(({ name, summary }) => ({ name, text: summary }))
}

function flagOf({ flags, text, choices, repeats = false }: CommandOption, path: readonly string[]): CompletedFlag {
  const names = flags.match(/(?<![\w-])--?[\w-]+/g) ?? []
  const value = /[<[].*/.exec(flags)?.[0]
  return { names, text, repeats, ...(value !== undefined && { value: completedValue(value, choices, path) }) }
}

/** By its name in the table, and by the command where the name alone does not say it. */
function completedValue(value: string, choices: readonly string[] | undefined, path: readonly string[]): Completed {
  if (choices !== undefined) return { type: 'words', words: choices }
  const name = value.replaceAll(/[<>[\].]/g, '')
  switch (name) {
    case 'file':
    case 'files':
      return { type: 'files' }
    case 'dir':
      return { type: 'directories' }
    case 'command':
      return { type: 'command' }
    case 'run':
    case 'runs':
    case 'job':
      return { type: 'live', kind: 'runs' }
    case 'task':
      return { type: 'live', kind: 'tasks' }
    case 'step':
      return stepOf(path)
    case 'name':
      return gateOf(path)
    default:
      return { type: 'nothing' }
  }
}

/** A step of a file is not looked up: only steps of runs are recorded. */
function stepOf([command]: readonly string[]): Completed {
  return command === 'explain' || command === 'simulate' ? { type: 'nothing' } : { type: 'live', kind: 'steps' }
}

function gateOf([command]: readonly string[]): Completed {
  return command === 'breakers' || command === 'budgets' ? { type: 'live', kind: command } : { type: 'nothing' }
}
