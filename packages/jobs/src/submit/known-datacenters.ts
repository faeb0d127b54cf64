/**
 * Datacenters that a worker has registered, once and for all: a job for a datacenter that nobody has heard of would wait
 * for ever. Imports the library and the records.
 */
import { OptionsError } from 'reprise'
import type { GateRecord, Ledger } from 'reprise/durable'
import { nearest } from 'reprise/internal'
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
  await change(ledger, name, (known) => known)
}

/** `reason`: null to enable it again. */
export async function disableDatacenter(ledger: Ledger, name: string, reason: string | null): Promise<void> {
  await change(ledger, name, (known) => ({ ...known, disabled: reason }))
}

async function change(ledger: Ledger, name: string, how: (known: KnownDatacenter) => KnownDatacenter): Promise<void> {
  const key = datacenterKey(name)
  await ledger.transact({ tasks: [], gates: [key] }, (view) => {
    const { firstSeenAtMs, disabled } = how(
      knownOf(view.gate(key)) ?? { name, firstSeenAtMs: view.now, disabled: null },
    )
    return { gates: [{ key, kind: 'record', state: { firstSeenAtMs, disabled } }], result: undefined }
  })
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
  const listed = known.length === 0 ? 'no worker has registered any yet' : `known are ${known.slice(0, 10).join(', ')}`
  const start = `start a worker there: reprise worker --datacenter ${name}`
  return {
    message: `no worker has ever registered the datacenter \`${name}\`: ${listed}`,
    suggestion: near === undefined ? start : `did you mean \`${near}\`?`,
  }
}
