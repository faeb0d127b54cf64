/**
 * What a command is: what help and documentation say of it, and the function behind it. Imports types only.
 *
 * A command's module exports `run`. It is loaded when the command is called, so that no command waits for the imports of
 * another. It is handed what was typed, checked against the table, and answers with an exit code, or nothing for 0.
 */
import type { CommandContext } from './command-context.js'
import type { ProgramExitCode } from './exit-codes.js'

/**
 * What was typed after the command's name. A command names the shapes that it has in the table:
 * `run(given: ParsedArguments<{ file: string; step?: string }, { runId?: string; param?: readonly string[] }>, context)`.
 */
export interface ParsedArguments<
  Values = Readonly<Record<string, unknown>>,
  Options = Readonly<Record<string, unknown>>,
> {
  /** By the names in the table: `<file>` is there, `[step]` may be undefined, `<files...>` is a list. */
  readonly values: Values
  /** By name, `--run-id` as `runId`: text; a list where it may be repeated; true where it takes no value. */
  readonly options: Options
}

export interface CommandModule {
  run(given: ParsedArguments, context: CommandContext): Promise<ProgramExitCode | void>
}

export interface CommandOption {
  /** `-f, --follow`, `--run-id <id>`, `--jitter [word]`. */
  readonly flags: string
  readonly text: string
  readonly choices?: readonly string[]
  /** May be given more than once. */
  readonly repeats?: boolean
  /** The heading of its section in help (default: `Options`). */
  readonly group?: string
}

/** What to type after `reprise`, and what that does. */
export type Example = readonly [typed: string, text: string]

export interface CommandEntry {
  readonly name: string
  /** Half a sentence. */
  readonly summary: string
  /** `<file>`, `[step]`, `<files...>`, what they are, and the words they may be where these are known. */
  readonly values?: readonly (readonly [value: string, text: string, choices?: readonly string[]])[]
  readonly options?: readonly CommandOption[]
  readonly examples: readonly Example[]
  /** Shown after the options. */
  readonly more?: string
  /** Prints lines of JSON with `--ndjson`; a command without it refuses the flag. */
  readonly ndjson?: true
  readonly subcommands?: readonly CommandEntry[]
  /** Absent: it is not there yet, and neither shown nor known. */
  readonly load?: () => Promise<CommandModule>
}

export interface CommandGroup {
  readonly title: string
  readonly commands: readonly CommandEntry[]
}

/** Whether it, or a subcommand, can be called. */
export function isThere({ load, subcommands = [] }: CommandEntry): boolean {
  return load !== undefined || subcommands.some(isThere)
}
