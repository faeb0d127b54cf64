/**
 * What a step has put out, as the value that is kept under the name of its `capture`.
 *
 * `text`: without the newline at its end. `json`: parsed. `lines`: a list, with neither line ends nor an empty last line.
 * `number`: nothing but a number. Of a script, whose output is a value already, `json` is the value itself; a string of
 * it is text like the output of a program. Imports the plan's types.
 */
import type { Json } from 'reprise/durable'
import type { CaptureFormat } from '../plan/plan.js'
import { jsonFaultAt } from './json-fault.js'
import { isList, wordFor } from './reference.js'
import { textOf } from './template.js'

/** What was put out is not of the form that was asked for. The next attempt may put out something else. */
export class CaptureError extends Error {
  readonly code: 'capture'

  constructor(message: string) {
    super(message)
    this.code = 'capture'
  }

  override get name(): string {
    return 'CaptureError'
  }
}

const MAX_SHOWN = 80
/** As deep as a ledger keeps values. */
const MAX_DEPTH = 60
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

export function captured(format: CaptureFormat, output: Json): Json {
  switch (format) {
    case 'text':
      return textOf(output).replace(/\r?\n$/, '')
    case 'json':
      return typeof output === 'string' ? parseJson(output) : output
    case 'lines':
      return linesOf(output)
    case 'number':
      return typeof output === 'number' ? output : numberOf(output)
  }
}

/** The error of a step that put out more than may be captured. */
export function captureExceeded(limitBytes: number): CaptureError {
  const cure = 'write it to a file, and capture the path'
  return new CaptureError(`the output is longer than the ${limitBytes} bytes that can be captured: ${cure}`)
}

function parseJson(text: string): Json {
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch {
    throw new CaptureError(`the output is not JSON: ${faultIn(text)}`)
  }
  const problem = problemIn(value)
  if (problem !== undefined) throw new CaptureError(`the output is JSON, but ${problem}`)
  return value
}

function faultIn(text: string): string {
  if (text.trim() === '') return 'it is empty'
  const at = jsonFaultAt(text)
  const before = text.slice(0, at)
  const line = before.split('\n').length
  const column = at - before.lastIndexOf('\n')
  const what = at >= text.length ? 'it ends too early' : `unexpected ${JSON.stringify(text[at])}`
  return `${what} at line ${line}, column ${column}; it begins with ${shown(text)}`
}

/** What JSON can say, and a ledger cannot keep. */
export function problemIn(value: Json, depth = MAX_DEPTH): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'it has a number that is too large'
  if (typeof value !== 'object' || value === null) return undefined
  if (depth === 0) return `it is nested deeper than ${MAX_DEPTH} levels`
  for (const item of isList(value) ? value : Object.values(value)) {
    const problem = problemIn(item, depth - 1)
    if (problem !== undefined) return problem
  }
  return undefined
}

function linesOf(output: Json): readonly string[] {
  if (isList(output)) return output.map(textOf)
  const text = textOf(output)
  if (text === '') return []
  return text.replace(/\r?\n$/, '').split(/\r?\n/)
}

function numberOf(output: Json): number {
  if (typeof output !== 'string') throw new CaptureError(`the output is ${wordFor(output)}, not a number`)
  const text = output.trim()
  const value = Number(text)
  if (!NUMBER.test(text)) throw new CaptureError(`the output is not a number: ${shown(text)}`)
  const isExact =
    Number.isFinite(value) && (Number.isSafeInteger(value) || !Number.isInteger(value) || /[.eE]/.test(text))
  if (!isExact) throw new CaptureError(`the output is a number that is too large to be kept exactly: ${shown(text)}`)
  return value
}

function shown(text: string): string {
  return JSON.stringify(text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text)
}
