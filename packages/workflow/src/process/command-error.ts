/**
 * A failed command as an error: for people, for the record, and for the matchers of `retryOn`.
 *
 * Invariants: the message and the fields tell the exit status, what was said on stderr (on stdout if there was nothing),
 * and whether time ran out, and nothing of the command's own text: `curl --connect-timeout 5` has not timed out, and
 * `sleep 503` is no server. The message is bounded, so that all of it is kept in the ledger. Who has secrets masks the end
 * of the command before it comes here: what is cut off in the middle of a secret can no longer be told.
 * Imports the command.
 */
import { constants } from 'node:os'
import type { CommandEnd } from './command.js'
import { lastWords } from './last-words.js'

/** What the matchers look at. */
const MOST_OUTPUT = 8192
/** Nothing can be started with what it is given. */
const HOPELESS: ReadonlySet<string> = new Set(['E2BIG', 'EINVAL'])
/** There is no program, or it may not be executed; with the exit code that a shell has for that. */
const NO_PROGRAM: ReadonlyMap<string, number> = new Map([
  ['ENOENT', 127],
  ['ENOTDIR', 127],
  ['EACCES', 126],
  ['EISDIR', 126],
  ['ENOEXEC', 126],
])

export class CommandError extends Error {
  override readonly name = 'CommandError'
  /**
   * As a shell would say: 128 and the number of the signal, if one ended it; 127 or 126, if there is no program that may
   * be executed. null: it was not started for another reason.
   */
  readonly exitCode: number | null
  readonly signal: string | null
  /** Of the system, if it was not started, such as `ENOENT`; the signal, if one ended it. */
  declare readonly code?: string
  readonly stderr: string
  readonly stdout: string
  readonly timedOut: boolean
  /**
   * false where no further attempt can be better: it cannot be given what it is given. `if_listed` where a program is not
   * there: somebody may be about to put it there, and then `retry_on` says so.
   */
  declare readonly retryable?: false | 'if_listed'

  constructor(message: string, end: CommandEnd, timedOut: boolean) {
    super(message, end.spawnError === null ? undefined : { cause: end.spawnError })
    const spawnCode = codeOf(end.spawnError) ?? ''
    this.exitCode = end.exitCode ?? signalExitCode(end.signal) ?? NO_PROGRAM.get(spawnCode) ?? null
    this.signal = end.signal
    const code = end.signal ?? codeOf(end.spawnError)
    if (code !== undefined) this.code = code
    if (HOPELESS.has(spawnCode)) this.retryable = false
    if (NO_PROGRAM.has(spawnCode)) this.retryable = 'if_listed'
    this.stderr = end.stderrTail.trim() === '' ? '' : end.stderrTail.slice(-MOST_OUTPUT)
    this.stdout = end.stdoutTail.slice(-MOST_OUTPUT)
    this.timedOut = timedOut
  }
}

/** `what` names what could not be started, such as `bash`; it says nothing else. */
export function failureOfCommand(end: CommandEnd, what: string, timedOut = false): CommandError {
  if (end.spawnError !== null) {
    const { message } = end.spawnError
    const reason = message.startsWith(`${what}: `) ? message : `${what}: ${message}`
    return new CommandError(`could not start ${reason}`, end, timedOut)
  }
  const { headline, context } = lastWords(end.stderrTail.trim() === '' ? end.stdoutTail : end.stderrTail)
  const firstLine = headline === '' ? ending(end, timedOut) : `${ending(end, timedOut)}: ${headline}`
  return new CommandError(context === '' ? firstLine : `${firstLine}\n${context}`, end, timedOut)
}

function ending({ exitCode, signal }: CommandEnd, timedOut: boolean): string {
  if (timedOut) return 'timed out'
  if (signal === null) return `exit code ${exitCode}`
  return signal === 'SIGKILL' ? 'killed by SIGKILL (by `kill -9`, or for lack of memory)' : `ended by ${signal}`
}

function codeOf(error: NodeJS.ErrnoException | null): string | undefined {
  return error?.code
}

function signalExitCode(signal: string | null): number | null {
  const number = (constants.signals as Readonly<Record<string, number>>)[signal ?? '']
  return number === undefined ? null : 128 + number
}
