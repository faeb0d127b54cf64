/** `reprise dlq export`: dead letters with their data, for other programs. Imports the workflow package and output. */
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs'
import {
  dataOf,
  type FoundLetter,
  foundLetters,
  letterView,
  plural,
  withDates,
  withLedger,
} from '@reprise/workflow/internal'
import type { CommandModule, ParsedArguments } from '../../command.js'
import { selectionOf, type WhichOptions } from '../../input/letter-selection.js'
import { writeData } from '../../output/json.js'
import { orSay } from '../../output/write-file.js'

type Format = 'json' | 'csv' | 'ndjson'
type Given = ParsedArguments<
  { readonly of?: string },
  WhichOptions & { readonly format?: Format; readonly file?: string }
>

export const exportLetters: CommandModule = {
  run: async (given, context) => {
    const { values, options } = given as unknown as Given
    const { io, settings } = context
    const { file, format = settings.ndjson ? 'ndjson' : 'json' } = options
    const out = file === undefined ? undefined : orSay(file, 'written', () => openSync(file, 'wx', 0o600))
    const write = (text: string): void => {
      if (out === undefined || file === undefined) io.stdout.write(text)
      else orSay(file, 'written', () => writeFileSync(out, text))
    }
    let count = 0
    try {
      await withLedger(settings.store, async (ledger) => {
        const writer = WRITERS[format]
        write(writer.begin)
        for await (const page of foundLetters(ledger, await selectionOf(ledger, values.of, options)))
          for (const found of page) write(writer.letter(found, count++))
        write(writer.end)
      })
    } catch (error) {
      if (file !== undefined) rmSync(file, { force: true })
      throw error
    } finally {
      if (out !== undefined) closeSync(out)
    }
    if (file === undefined) return
    if (writeData(context, { file, format, letters: count }) || settings.quiet) return
    io.stderr.write(`${plural(count, 'letter')} written to ${file}.\n`)
  },
}

interface LetterWriter {
  readonly begin: string
  readonly end: string
  letter(found: FoundLetter, index: number): string
}

const COLUMNS = ['letter', 'kind', 'run', 'map', 'id', 'key', 'state', 'generation', 'attempts', 'failedAt'] as const
const FURTHER = ['stopReason', 'exitCode', 'status', 'message', 'signature', 'retry', 'correlationId', 'data'] as const

const WRITERS: Readonly<Record<Format, LetterWriter>> = {
  json: {
    begin: '[',
    end: '\n]\n',
    letter: (found, index) => `${index === 0 ? '' : ','}\n${JSON.stringify(exported(found))}`,
  },
  ndjson: { begin: '', end: '', letter: (found) => `${JSON.stringify(exported(found))}\n` },
  csv: { begin: `${[...COLUMNS, ...FURTHER].join(',')}\r\n`, end: '', letter: (found) => csvLine(found) },
}

function exported({ letter, task }: FoundLetter): unknown {
  return withDates({ ...letterView(letter, task), data: task === undefined ? null : dataOf(task) })
}

function csvLine({ letter, task }: FoundLetter): string {
  const view = letterView(letter, task)
  const { failure, failedAtMs, retry } = view
  const cells: Readonly<Record<string, unknown>> = {
    ...view,
    failedAt: new Date(failedAtMs).toISOString(),
    exitCode: failure?.exitCode,
    status: failure?.status,
    message: failure?.message,
    retry: retry.makesSense,
    data: task === undefined ? '' : JSON.stringify(dataOf(task)),
  }
  return `${[...COLUMNS, ...FURTHER].map((name) => csvCell(cells[name])).join(',')}\r\n`
}

/** A spreadsheet obeys a cell that begins like a formula: such a text gets an apostrophe before it. */
function csvCell(value: unknown): string {
  const plain = value === undefined || value === null ? '' : String(value)
  const text = /^[=+\-@\t\r]/.test(plain) && typeof value === 'string' ? `'${plain}` : plain
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
