/**
 * Datacenters that a worker has registered, once and for all: a job for a datacenter that nobody has heard of would wait
 * for ever. Imports the library and the records.
 */
import { OptionsError } from 'reprise'
import { type GateRecord, type Json, type Ledger, TaskRefusedError } from 'reprise/durable'
import { nearest } from 'reprise/internal'
import type { JobEvent } from '../drive/job-event.js'
import { fieldsOf } from '../record/damaged-record.js'
import { datacenterKey } from '../record/names.js'

export interface KnownDatacenter {
  readonly name: string
  readonly firstSeenAtMs: number
  /** The operator's reason; null: it is enabled. */
  readonly disabled: string | null
}

const PREFIX = datacenterKey('')

export async function knownDatacenters(ledger: Ledger): Promise<readonly KnownDatacenter[]> {
  const gates = await ledger.gates()
  return gates.filter(({ key }) => key.startsWith(PREFIX)).flatMap((gate) => knownOf(gate) ?? [])
}

function knownOf(gate: GateRecord | undefined): KnownDatacenter | undefined {
  if (gate === undefined || gate.state === null) return undefined
  const { firstSeenAtMs, disabled } = fieldsOf(gate.state, gate.key)
  return {
    name: gate.key.slice(PREFIX.length),
    firstSeenAtMs: typeof firstSeenAtMs === 'number' ? firstSeenAtMs : 0,
    disabled: typeof disabled === 'string' ? disabled : null,
  }
}

/** By a worker that starts; one that is known stays as it is. */
export async function registerDatacenter(ledger: Ledger, name: string): Promise<void> {
  await change(ledger, name, (known, nowMs) => known ?? { name, firstSeenAtMs: nowMs, disabled: null })
}

/**
 * `reason`: null to enable it again. `by`: who asked for it. A mistyped name would disable nothing, and would be known from
 * then on.
 */
export async function disableDatacenter(
  ledger: Ledger,
  name: string,
  reason: string | null,
  by?: string,
): Promise<void> {
  const action = reason === null ? 'enable' : 'disable'
  const detail = { gate: datacenterKey(name), action, reason, ...(by !== undefined && { by }) }
  const isKnown = await change(ledger, name, (known) => known && { ...known, disabled: reason }, detail)
  if (isKnown) return
  const known = (await knownDatacenters(ledger)).map((one) => one.name)
  const near = nearest(name, known)
  const cure = near === undefined ? listOf(known) : `did you mean ${near}?`
  throw new TaskRefusedError('not_found', `No worker has ever registered the datacenter ${name}: ${cure}`)
}

/** `how`: undefined changes nothing. `event`: the detail of the event that says so, if people did it. Whether it was changed. */
async function change(
  ledger: Ledger,
  name: string,
  how: (known: KnownDatacenter | undefined, nowMs: number) => KnownDatacenter | undefined,
  event?: Readonly<Record<string, Json>>,
): Promise<boolean> {
  const key = datacenterKey(name)
  return ledger.transact({ tasks: [], gates: [key] }, (view) => {
    const changed = how(knownOf(view.gate(key)), view.now)
    if (changed === undefined) return { result: false }
    const { firstSeenAtMs, disabled } = changed
    const gates = [{ key, kind: 'record' as const, state: { firstSeenAtMs, disabled } }]
    return { gates, events: event === undefined ? [] : [changedByHand(event, view.now)], result: true }
  })
}

/** As changes of budgets and breakers by hand are recorded: it is about no run and no task. */
function changedByHand(detail: Readonly<Record<string, Json>>, now: number): JobEvent {
  return { type: 'gate_changed', scopeKind: '', scope: '', id: '', atMs: now, correlationId: '', detail }
}

function listOf(known: readonly string[]): string {
  return known.length === 0 ? 'no worker has registered any yet' : `known are ${known.slice(0, 10).join(', ')}`
}

/** Throws an `OptionsError` that names every datacenter which is unknown or disabled. */
export async function expectKnown(ledger: Ledger, names: readonly string[]): Promise<void> {
  const keys = names.map(datacenterKey)
  const found = await ledger.transact({ tasks: [], gates: keys }, (view) => ({
    result: keys.map((key) => knownOf(view.gate(key))),
  }))
  if (found.every((known) => known !== undefined && known.disabled === null)) return
  const known = (await knownDatacenters(ledger)).map(({ name }) => name)
  const problems = names.flatMap((name, index) => {
    const path = `datacenters[${index}]`
    const one = found[index]
    if (one === undefined) return [{ path, ...unknown(name, known) }]
    return one.disabled === null ? [] : [{ path, message: `the operator has disabled \`${name}\`: ${one.disabled}` }]
  })
  throw new OptionsError('the job', problems)
}

function unknown(name: string, known: readonly string[]): { message: string; suggestion: string } {
  const near = nearest(name, known)
  const start = `start a worker there: reprise worker --datacenter ${name}`
  return {
    message: `no worker has ever registered the datacenter \`${name}\`: ${listOf(known)}`,
    suggestion: near === undefined ? start : `did you mean \`${near}\`?`,
  }
}
