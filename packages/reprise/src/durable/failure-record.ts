/**
 * Errors as data: bounded, and never failing on what was thrown. Imports core and the ledger's types.
 */
import type { FailureRecord } from '../ledger/records.js'

const MAX_NAME = 200
const MAX_MESSAGE = 4000

export function failureOf(error: unknown): FailureRecord {
  if (typeof error !== 'object' || error === null) return { name: 'Error', message: cut(String(error), MAX_MESSAGE) }
  const name = read(error, 'name')
  const message = read(error, 'message')
  const code = read(error, 'code')
  const exitCode = read(error, 'exitCode')
  const status = read(error, 'status')
  return {
    name: typeof name === 'string' && name !== '' ? cut(name, MAX_NAME) : 'Error',
    message: typeof message === 'string' ? cut(message, MAX_MESSAGE) : 'an error without a message',
    ...((typeof code === 'string' || typeof code === 'number') && { code: cut(String(code), MAX_NAME) }),
    ...(Number.isSafeInteger(exitCode) && { exitCode: exitCode as number }),
    ...(isStatus(status) && { status }),
    ...(read(error, 'retryable') === false && { retryable: false as const }),
    ...(read(error, 'halt') === true && { halt: true as const }),
  }
}

/** The other way: an error that says what the record says. */
export function errorOf(failure: FailureRecord | null): Error | undefined {
  if (failure === null) return undefined
  const { name, message, ...rest } = failure
  const error = Object.assign(new Error(message), rest)
  Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true })
  return error
}

function isStatus(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 100 && (value as number) <= 599
}

/** A getter or proxy may throw. */
function read(error: object, field: string): unknown {
  try {
    return (error as Record<string, unknown>)[field]
  } catch {
    return undefined
  }
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text
}
