/**
 * What the steps of a batch say of its items: lines of `$REPRISE_RESULTS`, each `{"key": …, "result": …}` or
 * `{"key": …, "error": …}`. Imports Node, the library and the error of files.
 *
 * Invariants: the last line of an item counts. A line that says nothing of an item of the batch is a fault, which is named
 * with its number; the other lines count all the same. What a killed program left of its last line is no fault.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { isJsonObject } from 'reprise/internal'
import { stateErrorOf } from '../../state/state-error.js'

/** Of all lines together: they are read at once. */
const MAX_BYTES = 64 * 1024 * 1024
/** Of one item: as much as a step may capture. */
const MAX_RESULT_BYTES = 1024 * 1024
/** Faults that are named; the others are counted. */
const MOST_FAULTS = 3
const MOST_SHOWN = 80

/** An item failed, as the steps of its batch said. */
class ItemError extends Error {
  override readonly name = 'ItemError'
}

/** `$REPRISE_RESULTS` holds something that cannot be. */
export class BatchResultsError extends Error {
  override readonly name = 'BatchResultsError'

  constructor(faults: readonly string[]) {
    const more = faults.length > MOST_FAULTS ? ` (and ${faults.length - MOST_FAULTS} more)` : ''
    const cure = 'a line is {"key": "KEY", "result": …} or {"key": "KEY", "error": "…"}'
    super(`$REPRISE_RESULTS: ${faults.slice(0, MOST_FAULTS).join('; ')}${more}: ${cure}`)
  }
}

type LineOutcome = { readonly value: unknown } | { readonly error: Error }

interface ReadResults {
  /** By key. */
  readonly outcomes: ReadonlyMap<string, LineOutcome>
  readonly faults: readonly string[]
}

/** `keys`: of the items of the batch. `isWhole`: the program has ended by itself, so its last line is whole. */
export function readBatchResults(file: string, keys: ReadonlySet<string>, isWhole: boolean): ReadResults {
  const outcomes = new Map<string, LineOutcome>()
  const faults: string[] = []
  const text = textOf(file)
  if (text === undefined) return { outcomes, faults: [`it has more than ${MAX_BYTES / 1024 / 1024} MiB`] }
  const lines = text.split('\n')
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue
    const isTorn = !isWhole && index === lines.length - 1
    const read = readLine(line, keys)
    if (typeof read !== 'string') outcomes.set(read.key, read.outcome)
    else if (!isTorn) faults.push(`line ${index + 1} ${read}`)
  }
  return { outcomes, faults }
}

/** What is wrong with the line, in words that continue "line 3". */
function readLine(line: string, keys: ReadonlySet<string>): { key: string; outcome: LineOutcome } | string {
  let data: unknown
  try {
    data = JSON.parse(line)
  } catch {
    return `is not JSON: ${shown(line)}`
  }
  if (!isJsonObject(data)) return `is no object: ${shown(line)}`
  const { key, result, error, ...others } = data
  const [other] = Object.keys(others)
  if (typeof key !== 'string') return 'names no item: it has no text `key`'
  if (!keys.has(key)) return `names ${shown(key)}, which is no item of the batch`
  if (other !== undefined) return `has an unknown field ${shown(other)}`
  const [hasResult, hasError] = [Object.hasOwn(data, 'result'), Object.hasOwn(data, 'error')]
  if (hasResult === hasError) return `of ${shown(key)} has ${hasResult ? 'both' : 'neither'} \`result\` and \`error\``
  if (hasError) {
    const failed = errorIn(error)
    return typeof failed === 'string' ? `of ${shown(key)} ${failed}` : { key, outcome: { error: failed } }
  }
  if (Buffer.byteLength(line) <= MAX_RESULT_BYTES) return { key, outcome: { value: result } }
  const message = `its result has ${Buffer.byteLength(line)} bytes, and ${MAX_RESULT_BYTES} are kept: write it to a file`
  return { key, outcome: { error: failure(message, { retryable: false }) } }
}

/** A text, or an object with a `message` and what policies go by. */
function errorIn(error: unknown): Error | string {
  if (typeof error === 'string') return failure(error, {})
  if (!isJsonObject(error)) return 'has an `error` that is neither text nor an object'
  const { message, code, exit_code: exitCode, status, retryable, halt, ...others } = error
  const [other] = Object.keys(others)
  if (other !== undefined) return `has an unknown field \`error.${other}\``
  if (typeof message !== 'string') return 'has an `error` without a text `message`'
  return failure(message, { code, exitCode, status, retryable, halt })
}

function failure(message: string, fields: Readonly<Record<string, unknown>>): Error {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.assign(new ItemError(message), Object.fromEntries(known))
}

/** Empty if there is no file; undefined if it is too large. */
function textOf(file: string): string | undefined {
  try {
    const descriptor = openSync(file, 'r')
    try {
      const { size } = fstatSync(descriptor)
      if (size > MAX_BYTES) return undefined
      const bytes = Buffer.alloc(size)
      let read = 0
      for (let last = 1; last > 0 && read < size; read += last)
        last = readSync(descriptor, bytes, read, size - read, read)
      return bytes.toString('utf8', 0, read)
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw stateErrorOf(file, error)
  }
}

function shown(text: string): string {
  return JSON.stringify(text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text)
}
