/**
 * What is said, and with which exit code the program ends, when a command throws. Loaded only then.
 *
 * Invariants: with `--json` it is data on stdout, else words on stderr; what is not known here is a bug of ours.
 * Imports commander, the errors of commands and of the library, and their output.
 */
import { InputError, type Problem, StateError } from '@reprise/workflow'
import { DEFAULT_STORE, OperationError, WorktreesRefusedError } from '@reprise/workflow/internal'
import type { CommanderError } from 'commander'
import { isRepriseError } from 'reprise'
import type { GateRefusal, LedgerError, RefusalKind } from 'reprise/durable'
import { nearest, plainText } from 'reprise/internal'
import { reportBug } from './bug-report.js'
import { EXIT, type ExitCode } from './exit-codes.js'
import { type CommandRefusal, RefusedError, StoreError, UsageError } from './failures.js'
import { writeJson, writeJsonLine } from './output/json.js'
import { commandWords } from './output/next-commands.js'
import { printProblems } from './output/problems.js'
import { type Style, styleFor } from './output/style.js'
import { wrapCommand, wrapText } from './output/wrap.js'
import { commandError } from './operation-words.js'
import { OutputError } from './output-error.js'
import type { Settings } from './settings.js'
import type { Outputs } from './process-io.js'

const MAX_TEXT = 2000

export type FailureOutput = Pick<Settings, 'json' | 'ndjson' | 'color'> &
  Partial<Pick<Settings, 'store'>> & {
    /** Where it is data, it is said in words as well. */
    readonly isInWordsToo?: boolean
  }

/** What commander found wrong with the arguments. `help` is the command that shows how it is done. */
export function reportUsage(error: CommanderError, help: string, io: Outputs, output: FailureOutput): ExitCode {
  const problem = usageProblem(error, help)
  if (isData(output)) writeData(io, output, { problems: [problem] })
  // Whoever gave no command has been shown the help.
  if (error.code === 'commander.help') return EXIT.invalid
  const { message, suggestion } = problem
  const isMore = suggestion !== undefined && suggestion !== tryHelp(help)
  const said = [`error: ${message}`, ...(isMore ? [suggestion] : []), `Try \`${help}\`.`]
  io.stderr.write(`${said.map((line) => plainText(line, MAX_TEXT)).join('\n')}\n`)
  return EXIT.invalid
}

export function reportFailure(thrown: unknown, io: Outputs, output: FailureOutput): ExitCode {
  const error = thrown instanceof OperationError ? commandError(thrown) : thrown
  if (error instanceof InputError || error instanceof OutputError) {
    reportProblems(error, io, output)
    return error instanceof OutputError ? EXIT.unwritable : EXIT.invalid
  }
  // A ledger refuses an address that it cannot make sense of; what else is asked of it here makes sense.
  if (error instanceof UsageError || isLostDirectory(error) || problemWith(error) === 'refused') {
    reportProblems(new InputError([problemOf(error as Error)]), io, output)
    return EXIT.invalid
  }
  const refusal = asRefusal(error)
  if (refusal !== undefined) return reportRefusal(refusal, io, output)
  if (error instanceof StoreError || error instanceof StateError || isFailingStore(error)) {
    reportProblems(new OutputError([problemOf(error)]), io, output)
    return EXIT.unwritable
  }
  return reportBug(error, io)
}

/** What the library refuses, in the words of the command line. Of a closed ledger we should have known. */
const KINDS: Readonly<Record<Exclude<RefusalKind, 'closed'> | GateRefusal, CommandRefusal>> = {
  policy_changed: 'definition_changed',
  conflict: 'definition_changed',
  not_found: 'not_found',
  state_refused: 'inconsistent',
  locked: 'locked',
  run_lost: 'locked',
  task_lost: 'locked',
  finished: 'not_possible',
  not_waiting: 'not_possible',
  not_failed: 'not_possible',
  nothing_to_grant: 'not_possible',
}

function asRefusal(error: unknown): RefusedError | undefined {
  if (error instanceof RefusedError) return error
  if (isRepriseError(error, 'task_refused') || isRepriseError(error, 'gate_refused')) {
    const { kind, message } = error
    const changes = error.code === 'task_refused' ? error.changes : []
    const details = changes.map(
      ({ field, from, to }) => `${field}: was ${JSON.stringify(from)}, is ${JSON.stringify(to)}`,
    )
    const isDamaged = kind === 'state_refused'
    const resets = error.code === 'gate_refused' ? error.gates.flatMap(resetOf) : []
    const next = isDamaged ? [...resets, ['doctor']] : resets
    return kind === 'closed' ? undefined : new RefusedError({ kind: KINDS[kind], message, details, next })
  }
  if (error instanceof WorktreesRefusedError) {
    const { message, suggestion } = error
    return new RefusedError({ kind: 'not_possible', message: `${message}: ${suggestion}` })
  }
  if (isRepriseError(error, 'ledger') && error.problem === 'newer_format') {
    return new RefusedError({ kind: 'newer_format', message: error.message })
  }
  return undefined
}

/** What mends a gate whose record cannot be. */
function resetOf(key: string): (readonly string[])[] {
  const [kind, name] = [key.slice(0, key.indexOf(':')), key.slice(key.indexOf(':') + 1)]
  return kind === 'breaker' || kind === 'budget' ? [[`${kind}s`, 'reset', name]] : []
}

/** Somebody has removed the directory in which the command was typed. */
function isLostDirectory(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error && error.syscall === 'uv_cwd'
}

function isFailingStore(error: unknown): error is LedgerError {
  return ['unusable', 'busy', 'unreachable', 'corrupt', 'missing_driver'].includes(problemWith(error) ?? '')
}

function problemWith(error: unknown): LedgerError['problem'] | undefined {
  return isRepriseError(error, 'ledger') ? error.problem : undefined
}

function reportRefusal(refusal: RefusedError, io: Outputs, output: FailureOutput): ExitCode {
  const { kind, message, details } = refusal
  const next = refusal.next.map(commandWords({ store: output.store ?? DEFAULT_STORE }, io.env))
  if (isData(output)) {
    writeData(io, output, { refused: { kind, message, details, next } })
    if (output.isInWordsToo !== true) return EXIT.refused
  }
  const style = styleOf(io, output)
  // A pipe has no columns, and some terminals say 0 when they do not know: every line stays whole.
  const columns = io.stderr.columns || Infinity
  const lines = [
    ...wrapText('', `${style.red('refused')}: ${plainText(message, MAX_TEXT)}`, columns),
    ...details.flatMap((detail) => wrapText('  ', plainText(detail, MAX_TEXT), columns)),
    ...next.flatMap((command) => wrapCommand(`  ${style.cyan('next')}: `, plainText(command, MAX_TEXT), columns)),
  ]
  io.stderr.write(`${lines.join('\n')}\n`)
  return EXIT.refused
}

function reportProblems(error: InputError | OutputError, io: Outputs, output: FailureOutput): void {
  if (isData(output)) writeData(io, output, { problems: error.problems })
  if (!isData(output) || output.isInWordsToo === true) printProblems(error, io.stderr, styleOf(io, output))
}

function problemOf(error: Error & { readonly suggestion?: string | undefined }): Problem {
  if (isLostDirectory(error))
    return { message: 'the working directory does not exist any more', suggestion: 'change to one that does' }
  const { message, suggestion } = error
  return { message, ...(suggestion !== undefined && { suggestion }) }
}

function usageProblem({ code, message }: CommanderError, help: string): Problem {
  if (code === 'commander.help') return { message: 'no command is given', suggestion: tryHelp(help) }
  const [first = '', near] = message.replace(/^error: /, '').split('\n')
  const suggestion =
    otherWord(code, first) ??
    near?.replace(/^\((.*)\)$/, '$1') ??
    nearestChoice(first) ??
    withoutDashes(code, help) ??
    tryHelp(help)
  const words = first
    .replace(WRONG_ARGUMENT, '$1 is not a $2: it is one of $3')
    .replace(WRONG_CHOICE, '$1: "$2" is not one of $3')
  return { message: words, suggestion }
}

function tryHelp(help: string): string {
  return `try \`${help}\``
}

/** What other tools call our commands, where the nearest spelling would be another command, or none. */
const OTHER_WORDS: Readonly<Record<string, readonly string[]>> = {
  run: ['start', 'go', 'execute'],
  ps: ['list', 'ls', 'runs', 'history'],
  show: ['status', 'inspect', 'describe', 'get'],
  logs: ['output', 'tail'],
  cancel: ['stop', 'kill', 'abort'],
  resume: ['continue', 'restart'],
  validate: ['check', 'lint'],
  explain: ['plan'],
  init: ['new', 'create'],
  clean: ['rm', 'remove', 'delete', 'prune'],
  'retry-now': ['retry'],
  '--version': ['version'],
}

function otherWord(code: string, said: string): string | undefined {
  const [, word = ''] = code === 'commander.unknownCommand' ? (/'(.*)'/.exec(said) ?? []) : []
  const [meant] = Object.entries(OTHER_WORDS).find(([, words]) => words.includes(word)) ?? []
  return meant === undefined ? undefined : `Did you mean ${meant}?`
}

/** Of a command that is retried, an option is often taken for one of `exec`. */
function withoutDashes(code: string, help: string): string | undefined {
  const isOption = code === 'commander.unknownOption' && help === 'reprise exec --help'
  return isOption ? 'Write the command after `--`: reprise exec --attempts 5 -- ls -l' : undefined
}

const WRONG_ARGUMENT =
  /^command-argument value '([^']*)' is invalid for argument '([^']*)'\. Allowed choices are (.*)\.$/

const WRONG_CHOICE = /^option '(?:-\w, )?(--[\w-]+)[^']*' argument '(.*)' is invalid\. Allowed choices are (.*)\.$/s

/** Commander names the words that would have been right, but not the one that was meant. */
function nearestChoice(said: string): string | undefined {
  const [, word, choices] =
    /'([^']*)' is invalid(?: for argument '[^']*')?\. Allowed choices are (.*)\.$/.exec(said) ?? []
  if (word === undefined || choices === undefined) return undefined
  const near = nearest(word, choices.split(', '))
  return near === undefined ? undefined : `Did you mean ${near}?`
}

function isData({ json, ndjson }: FailureOutput): boolean {
  return json || ndjson
}

function writeData({ stdout }: Outputs, { ndjson }: FailureOutput, value: unknown): void {
  if (ndjson) writeJsonLine(stdout, value)
  else writeJson(stdout, value)
}

function styleOf({ stderr, env }: Outputs, { color }: FailureOutput): Style {
  return styleFor(color, stderr, env)
}
