/** What is read of a ledger is checked before anything follows from it. Pure. Imports the library's errors. */
import { type Json, LedgerError } from 'reprise/durable'

export type Fields = Readonly<Record<string, Json | undefined>>

/** The value as an object; throws if it is none. `what`: the row, for the message. */
export function fieldsOf(value: Json | undefined, what: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw damaged(what, 'it is not an object')
}

export function damaged(what: string, fault: string): LedgerError {
  return new LedgerError('corrupt', `The record of ${what} cannot be read: ${fault}`)
}

/** A whole number of 0 or more. */
export function countIn(fields: Fields, name: string, what: string): number {
  const value = fields[name]
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number
  throw damaged(what, `${name} is ${JSON.stringify(value)}`)
}

export function timeIn(fields: Fields, name: string, what: string): number {
  const value = fields[name]
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw damaged(what, `${name} is ${JSON.stringify(value)}`)
}

export function textIn(fields: Fields, name: string, what: string): string {
  const value = fields[name]
  if (typeof value === 'string') return value
  throw damaged(what, `${name} is ${JSON.stringify(value)}`)
}

export function textsIn(fields: Fields, name: string, what: string): readonly string[] {
  const value = fields[name]
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value
  throw damaged(what, `${name} is ${JSON.stringify(value)}`)
}

export function wordIn<W extends string>(fields: Fields, name: string, words: readonly W[], what: string): W {
  const value = fields[name]
  if (words.some((word) => word === value)) return value as W
  throw damaged(what, `${name} is ${JSON.stringify(value)}`)
}
