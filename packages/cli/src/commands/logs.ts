/**
 * `reprise logs RUN [STEP]`: what the steps have written. As it is in a pipe; on a terminal without what it would obey.
 * Imports the state directory and output.
 *
 * Invariant: no more of it is in memory than a reader is behind by one piece, however long it is.
 */
import { closeSync, openSync, readSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import {
  expectAttempt,
  findItem,
  findLoggedStep,
  findMap,
  type LogEntry,
  logsOfRun,
  runReader,
  type StepView,
  viewItem,
  withLedger,
} from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { RefusedError, UsageError } from '../failures.js'
import { harmless } from '../output/harmless-text.js'
import { writeJson } from '../output/json.js'
import { displayFor } from '../output/display.js'
import { findRunOrLast } from '../runs/run-argument.js'
import { follow } from '../runs/follow.js'
import { written } from '../output/backpressure.js'

type Options = {
  readonly follow?: boolean
  readonly attempt?: string
}

type Values = { readonly run?: string; readonly step?: string; readonly item?: string }
type Given = ParsedArguments<Values, Options>

const CHUNK_BYTES = 64 * 1024
const NEWLINE = 0x0a

export async function run(
  { values: { run: named, step, item }, options }: Given,
  context: CommandContext,
): Promise<void> {
  const { io, settings } = context
  const attempt = options.attempt === undefined ? undefined : attemptOf(options.attempt)
  await withLedger(settings.store, async (ledger) => {
    const record = await findRunOrLast(ledger, named, 'logs')
    const runId = record.id
    const logs = await logsOfRun(ledger, record, settings.store)
    const map = step === undefined ? undefined : await findMap(ledger, record, step)
    // The log of a map itself is that of the command of its input.
    if (map !== undefined && item === undefined && logs.files({ step, attempt }).length === 0)
      throw withoutItem(runId, map.id)
    if (map === undefined && item !== undefined) throw new UsageError(`${step} is no map, and ${item} no item of it`)
    const task = map === undefined || item === undefined ? undefined : await findItem(ledger, record, map, item)
    const files = (): readonly LogEntry[] =>
      logs.files({ step, attempt, ...(map && task && { item: { map: map.id, id: task.id } }) })
    const view =
      map !== undefined && task !== undefined
        ? await viewItem(ledger, record, map, task, settings.store)
        : step === undefined
          ? undefined
          : await findLoggedStep(runReader(ledger, settings.store), runId, step)
    if (view !== undefined && attempt !== undefined && options.follow !== true) expectAttempt(view, runId, attempt)
    const { elsewhere } = logs
    if (settings.json) return writeJson(io.stdout, { logs: files(), elsewhere })
    const printer = new Printer(context)
    await follow(ledger, runId, options.follow === true, () => printer.print(files()))
    if (settings.quiet) return
    if (!printer.hasPrinted)
      io.stderr.write(elsewhere.length > 0 ? 'No log is here.\n' : `${plainText(withoutOutput(view, runId))}\n`)
    for (const { host, stateDirectory } of elsewhere)
      io.stderr.write(
        plainText(`Steps of run ${runId} ran on ${host}, and their logs are there: in ${stateDirectory}.`) + '\n',
      )
  })
}

/** Items may be very many: the output of all of them is not printed. */
function withoutItem(runId: string, map: string): RefusedError {
  const message = `Map ${map} of run ${runId} has a log for each item: name an item.`
  const next = [
    ['show', runId, map, '--state', 'dead'],
    ['logs', runId, map, 'ITEM'],
  ]
  return new RefusedError({ kind: 'not_possible', message, next })
}

function withoutOutput(step: StepView | undefined, runId: string): string {
  if (step === undefined) return `The steps of run ${runId} have written nothing.`
  if (step.kind === 'item') return withoutItemOutput(step)
  return step.attempts === 0 ? `Step ${step.id} has not run.` : `Step ${step.id} has written nothing.`
}

function withoutItemOutput({ name, state, attempts }: StepView): string {
  if (attempts === 0) return `Item ${name} has not run.`
  if (state === 'succeeded')
    return `No log of item ${name} is here; logs of plain successes are kept with \`keep_logs: all\`.`
  return `No log of item ${name} is here: it has written nothing, or \`keep_logs\` is \`none\`.`
}

function attemptOf(text: string): number {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number > 0) return number
  throw new UsageError(`--attempt ${text} is no number of an attempt`, 'they count from 1')
}

/** Remembers how much of each file has been printed. */
class Printer {
  hasPrinted = false
  private readonly context: CommandContext
  private readonly printed = new Map<string, number>()
  private last: string | undefined = undefined
  /** What a character begins with may be the last of what was read. */
  private decoder = new StringDecoder('utf8')
  private isAtLineStart = true

  constructor(context: CommandContext) {
    this.context = context
  }

  async print(files: readonly LogEntry[]): Promise<void> {
    for (const file of files) await this.printFile(file, files.length > 1)
  }

  private async printFile(file: LogEntry, hasOthers: boolean): Promise<void> {
    const { io, settings } = this.context
    const handle = openSync(file.path, 'r')
    try {
      for (;;) {
        const at = this.printed.get(file.path) ?? 0
        // Its own each time: what is written may still be on its way when the next is read.
        const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
        const length = readSync(handle, buffer, 0, buffer.length, at)
        if (length === 0) return
        if (this.last !== file.path && (hasOthers || this.last !== undefined)) {
          const { dim } = displayFor(io, settings).style
          const title = `── ${file.step}, attempt ${file.attempt}${file.execution > 1 ? `, start ${file.execution}` : ''} ──`
          if (!settings.quiet) io.stdout.write(`${this.isAtLineStart ? '' : '\n'}${dim(plainText(title))}\n`)
        }
        if (this.last !== file.path) this.decoder = new StringDecoder('utf8')
        this.last = file.path
        this.hasPrinted = true
        this.printed.set(file.path, at + length)
        this.isAtLineStart = buffer[length - 1] === NEWLINE
        await this.write(buffer.subarray(0, length))
      }
    } finally {
      closeSync(handle)
    }
  }

  private write(bytes: Buffer): void | Promise<void> {
    const { stdout } = this.context.io
    return written(stdout, stdout.isTTY === true ? Buffer.from(harmless(this.decoder.write(bytes))) : bytes)
  }
}
