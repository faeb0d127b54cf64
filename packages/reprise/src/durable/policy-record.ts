/**
 * A policy as data, so that a ledger can keep it and a later program can tell whether its own is still the same.
 * Functions are kept by name: they are taken from the running program. Imports core, the ledger's types and crypto.
 */
import { hash } from 'node:crypto'
import type { Policy } from '../core/policy.js'
import type { Json, PolicyRecord } from '../ledger/records.js'
import { canonical } from './json.js'

/**
 * What becomes of an attempt that was running when its process was lost: it runs again under its number, counts as failed
 * (`charge`), a person decides, or the program looks whether it happened.
 */
export type InterruptRule = 'rerun' | 'charge' | 'fail' | 'verify'

/** By policy, which does not change, and rule: a run may have very many steps with one policy. */
const records = new WeakMap<Policy, Map<InterruptRule, PolicyRecord>>()

export function recordOf(policy: Policy, onInterrupt: InterruptRule): PolicyRecord {
  const known = records.get(policy) ?? new Map<InterruptRule, PolicyRecord>()
  records.set(policy, known)
  let record = known.get(onInterrupt)
  if (record === undefined) {
    const data = { ...(asJson(policy) as object), onInterrupt } as Json
    record = { hash: fingerprint(data), policy: data }
    known.set(onInterrupt, record)
  }
  return record
}

/** The same for the same data, whatever the order of its keys. */
export function fingerprint(data: Json): string {
  return hash('sha256', canonical(data), 'hex').slice(0, 32)
}

function asJson(value: unknown): Json {
  if (typeof value === 'function') return { function: value.name }
  if (Array.isArray(value)) return value.map(asJson)
  if (typeof value !== 'object' || value === null) return value === undefined ? null : (value as Json)
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  return Object.fromEntries(entries.map(([key, item]) => [key, asJson(item)]))
}

export interface FieldChange {
  /** The path of the field, such as `backoff.base`. */
  readonly field: string
  /** Its value in the ledger. */
  readonly from: Json
  /** Its value in this program. */
  readonly to: Json
}

/** None of a record that was damaged: it differs in every field. */
function fieldsOf(policy: Json): Readonly<Record<string, Json>> {
  const isObject = typeof policy === 'object' && policy !== null && !Array.isArray(policy)
  return isObject ? (policy as Readonly<Record<string, Json>>) : {}
}

/** What differs between two records, field by field. */
export function differences(from: Json, to: Json): FieldChange[] {
  const [before, after] = [fieldsOf(from), fieldsOf(to)]
  const fields = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...fields].flatMap((field) => {
    const [old, now] = [before[field] ?? null, after[field] ?? null]
    return canonical(old) === canonical(now) ? [] : [{ field, from: old, to: now }]
  })
}
