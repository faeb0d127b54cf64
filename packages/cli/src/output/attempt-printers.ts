/**
 * What is shown of the output of attempts, one class for each way. Output of others goes to people as it is in a pipe, and
 * without what a terminal would obey on one. Imports the parts of output.
 *
 * Invariants: `grouped` and `failed` read the attempt's log, so that memory does not grow with the output; in `stream`
 * nothing stands between the pieces of a line.
 */
import type { OutputListener, RunEvent } from '@reprise/workflow'
import { failureText, type StepAttempt } from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import { annotation, groupMarks, neutralLines } from './github-commands.js'
import { harmless } from './harmless-text.js'
import { LineSplitter } from './line-splitter.js'
import { tailOf } from './log-tail.js'
import type { OrderedOutput } from './ordered-output.js'
import type { OutputMode } from '../output-mode.js'
import type { StepNames } from './step-names.js'
import type { Style } from './style.js'

/** Of a failing attempt, in every mode but `none`. */
const TAIL_LINES = 20

export interface AttemptPrinter extends OutputListener {
  readonly tell: (event: RunEvent) => void
}

export interface PrinterParts {
  readonly output: OrderedOutput
  readonly names: StepNames
  readonly style: Style
  readonly isGitHub: boolean
  readonly isQuiet: boolean
  /** Writes lines of talk that stand together. */
  readonly write: (lines: readonly string[]) => void
}

export function printersFor(mode: OutputMode, parts: PrinterParts): AttemptPrinter[] {
  const marks = parts.isGitHub ? [new AnnotationPrinter(parts)] : []
  switch (mode) {
    case 'grouped':
      // A group is folded: what failed has to be seen without a click.
      return [new GroupPrinter(parts), ...(parts.isGitHub ? [new TailPrinter(parts)] : []), ...marks]
    case 'stream':
      return [new StreamPrinter(parts), ...marks]
    case 'failed':
      return [new TailPrinter(parts), ...marks]
    case 'none':
      return marks
  }
}

class GroupPrinter implements AttemptPrinter {
  private readonly parts: PrinterParts

  constructor(parts: PrinterParts) {
    this.parts = parts
  }

  tell = (): void => undefined

  onEnd = (of: StepAttempt, log: string | null): void => {
    if (log === null) return
    const { output, names, style, isGitHub } = this.parts
    const title = names.attemptOf(of)
    const marks = isGitHub ? groupMarks(title) : { begin: `${style.dim(`── ${title} ──`)}\n`, end: '' }
    output.file(log, marks.begin, marks.end)
  }
}

class StreamPrinter implements AttemptPrinter {
  private readonly parts: PrinterParts
  private readonly splitters = new Map<string, LineSplitter>()

  constructor(parts: PrinterParts) {
    this.parts = parts
  }

  tell = (): void => undefined

  onBytes = (of: StepAttempt, stream: 'stdout' | 'stderr', bytes: Uint8Array): void | Promise<void> =>
    this.write(of, this.splitterOf(of, stream).push(bytes))

  onEnd = (of: StepAttempt): void => {
    for (const stream of ['stdout', 'stderr'] as const) {
      const rest = this.splitterOf(of, stream).end()
      if (rest !== null) void this.write(of, [rest])
      this.splitters.delete(keyOf(of, stream))
    }
  }

  /** The two streams do not share their lines. */
  private splitterOf(of: StepAttempt, stream: string): LineSplitter {
    const key = keyOf(of, stream)
    let splitter = this.splitters.get(key)
    if (splitter === undefined) this.splitters.set(key, (splitter = new LineSplitter()))
    return splitter
  }

  private write(of: StepAttempt, lines: readonly Uint8Array[]): void | Promise<void> {
    if (lines.length === 0) return
    const { output, names, style, isGitHub } = this.parts
    const prefix = Buffer.from(style.dim(`[${names.nameOf(of)}] `))
    const text = Buffer.concat(lines.flatMap((line) => [prefix, output.isTerminal ? harmlessLine(line) : line]))
    return output.bytes(isGitHub ? neutralBytes(text) : text)
  }
}

function keyOf({ step, attempt, execution }: StepAttempt, stream: string): string {
  return [step, attempt, execution, stream].join('\0')
}

function harmlessLine(line: Uint8Array): Uint8Array {
  return Buffer.from(harmless(Buffer.from(line).toString()))
}

/** Bytes that are no text stay as they are. */
function neutralBytes(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1')
  const neutral = neutralLines(text)
  return neutral === text ? bytes : Buffer.from(neutral, 'latin1')
}

/**
 * The last lines of attempts that have failed; with `--quiet` of steps that have. An attempt whose time is over is told to
 * have failed before its processes are gone and its log is complete: then its lines come later.
 */
class TailPrinter implements AttemptPrinter {
  private readonly parts: PrinterParts
  /** By step: the log of its last attempt, once that is complete. */
  private readonly complete = new Map<string, { readonly of: StepAttempt; readonly log: string | null }>()
  /** By step: the attempt that has failed, whose log is not complete, and what is said of it. */
  private readonly wanted = new Map<string, { readonly attempt: number; readonly said: string }>()

  constructor(parts: PrinterParts) {
    this.parts = parts
  }

  tell = (event: RunEvent): void => {
    if (event.type === 'step_finished' && event.state !== 'failed') this.complete.delete(event.step)
    const isFailed = event.type === 'step_finished' && event.state === 'failed'
    if (event.type !== (this.parts.isQuiet ? 'step_finished' : 'attempt_failed')) return
    if (event.type === 'step_finished' && !isFailed) return
    const known = this.complete.get(event.step)
    const said = failureText(event.failure)
    if (known?.of.attempt === event.attempt) this.print(known.of, known.log, said)
    else this.wanted.set(event.step, { attempt: event.attempt, said })
  }

  onEnd = (of: StepAttempt, log: string | null): void => {
    const wanted = this.wanted.get(of.step)
    if (wanted?.attempt === of.attempt) {
      this.wanted.delete(of.step)
      this.print(of, log, wanted.said)
    } else this.complete.set(of.step, { of, log })
  }

  private print(of: StepAttempt, log: string | null, said: string): void {
    this.complete.delete(of.step)
    const { lines, isCut } = log === null ? { lines: [], isCut: false } : tailOf(log, TAIL_LINES)
    // The line with the error may already contain all of these lines.
    if (lines.every((line) => said.includes(line.trim()))) return
    const { names, style, write } = this.parts
    const what = isCut ? 'Last lines' : 'Output'
    const head = `${what} of ${names.attemptOf(of)}, log: ${plainText(log ?? '', 1000)}`
    write([head, ...lines.map((line) => `  ${style.dim('│')} ${line}`.trimEnd())])
  }
}

/** Steps that have failed, beside the code or above the log of the job. */
class AnnotationPrinter implements AttemptPrinter {
  private readonly parts: PrinterParts

  constructor(parts: PrinterParts) {
    this.parts = parts
  }

  onEnd = (): void => undefined

  tell = (event: RunEvent): void => {
    if (event.type !== 'step_finished' || (event.state !== 'failed' && event.state !== 'undecided')) return
    const { names, output } = this.parts
    const title = `Step ${names.nameOf(event)} ${event.state === 'failed' ? 'failed' : 'is undecided'}`
    const why = event.stopReason === null ? '' : ` (${event.stopReason})`
    const cause = failureText(event.failure)
    const message = `${attempted(event.attempt)}${why}${cause === '' ? '' : `: ${cause}`}`
    output.text(`${annotation(event.continued ? 'warning' : 'error', title, message)}\n`)
  }
}

function attempted(count: number): string {
  return count === 1 ? 'after 1 attempt' : `after ${count} attempts`
}
