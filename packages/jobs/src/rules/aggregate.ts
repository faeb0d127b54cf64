/**
 * Outputs of workflows combined over datacenters. Percentiles are not merged: there is no right way to do it; a histogram
 * is what can be added. Pure. Imports the kinds of aggregates.
 */
import type { Json } from 'reprise/durable'
import type { AggregateKind } from './job-request.js'

/** The outputs of one workflow at one datacenter. */
export interface WorkflowOutputs {
  readonly datacenter: string
  readonly workflow: string
  readonly outputs: Readonly<Record<string, Json>>
}

/** A bucket of a histogram: values above the bucket before it. */
interface Bucket {
  /** The largest value that it holds; null: no upper bound. */
  readonly upTo: number | null
  /** How many values it holds. */
  readonly count: number
}

/** An output combined over the datacenters that count. */
export interface Aggregate {
  /** How it is combined. */
  readonly kind: AggregateKind
  /** null: no value was there, or the kind is a histogram. */
  readonly value: number | null
  /** Of a histogram alone, in order. */
  readonly buckets?: readonly Bucket[]
  /** Values that went into it. */
  readonly count: number
  /** Outputs of this name that are no numbers. */
  readonly ignored: number
  /** The datacenters that values came from. */
  readonly datacenters: readonly string[]
}

/** An aggregate named `WORKFLOW.OUTPUT` is of that workflow, any other of every workflow that has the output. */
export function aggregateOutputs(
  kinds: Readonly<Record<string, AggregateKind>>,
  all: readonly WorkflowOutputs[],
): Readonly<Record<string, Aggregate>> {
  return Object.fromEntries(Object.entries(kinds).map(([name, kind]) => [name, aggregateOf(name, kind, all)]))
}

function aggregateOf(name: string, kind: AggregateKind, all: readonly WorkflowOutputs[]): Aggregate {
  const split = name.lastIndexOf('.')
  const [workflow, output] = split < 0 ? [undefined, name] : [name.slice(0, split), name.slice(split + 1)]
  const found = all.filter(
    (one) => (workflow === undefined || one.workflow === workflow) && Object.hasOwn(one.outputs, output),
  )
  const read = found.map(({ datacenter, outputs }) => ({ datacenter, values: valuesOf(kind, outputs[output] as Json) }))
  const used = read.filter(({ values }) => values !== null)
  const values = used.flatMap((one) => one.values ?? [])
  return {
    kind,
    ...(kind === 'histogram'
      ? { value: null, buckets: bucketsOf(values) }
      : {
          value: combined(
            kind,
            values.map(({ value }) => value),
          ),
        }),
    count: values.reduce((sum, { count }) => sum + count, 0),
    ignored: read.length - used.length,
    datacenters: [...new Set(used.map(({ datacenter }) => datacenter))].toSorted(),
  }
}

interface Weighted {
  readonly value: number
  readonly count: number
  /** The value is the upper bound of a bucket already. */
  readonly isBound?: boolean
}

/** null: nothing that this kind can use. `count` counts outputs of every type. */
function valuesOf(kind: AggregateKind, output: Json): readonly Weighted[] | null {
  if (kind === 'count') return [{ value: 1, count: 1 }]
  const number = numberOf(output)
  if (number !== null) return [{ value: number, count: 1 }]
  if (kind !== 'histogram' || typeof output !== 'object' || output === null) return null
  if (Array.isArray(output)) {
    const numbers = output.map((item) => numberOf(item as Json))
    return numbers.includes(null) ? null : numbers.map((value) => ({ value: value as number, count: 1 }))
  }
  const entries = Object.entries(output as Readonly<Record<string, Json>>).map(([bound, count]) => ({
    value: /^\+?inf(inity)?$/i.test(bound) ? Infinity : (numberOf(bound) ?? Number.NaN),
    count: numberOf(count) ?? -1,
    isBound: true,
  }))
  const isHistogram = entries.every(({ value, count }) => !Number.isNaN(value) && Number.isInteger(count) && count >= 0)
  return isHistogram ? entries : null
}

/** What a command has printed is text: `42` is a number too. */
function numberOf(value: Json): number | null {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || !/^\s*-?\d+(\.\d+)?([eE][-+]?\d{1,3})?\s*$/.test(value)) return null
  const number = Number(value)
  return Number.isFinite(number) ? number : null
}

function combined(kind: Exclude<AggregateKind, 'histogram'>, values: readonly number[]): number | null {
  if (kind === 'count') return values.length
  const [first] = values
  if (first === undefined) return null
  const sum = values.reduce((total, value) => total + value, 0)
  switch (kind) {
    case 'sum':
      return sum
    case 'mean':
      return sum / values.length
    // Not `Math.min(...values)`: a very long list of arguments is refused.
    case 'min':
      return values.reduce((least, value) => Math.min(least, value), first)
    case 'max':
      return values.reduce((most, value) => Math.max(most, value), first)
  }
}

function bucketsOf(values: readonly Weighted[]): readonly Bucket[] {
  const counts = new Map<number, number>()
  for (const { value, count, isBound = false } of values) {
    const bound = isBound ? value : boundOf(value)
    counts.set(bound, (counts.get(bound) ?? 0) + count)
  }
  return [...counts]
    .toSorted(([a], [b]) => a - b)
    .map(([bound, count]) => ({ upTo: bound === Infinity ? null : bound, count }))
}

/** The next of … 1, 2, 5, 10, 20, 50 … that is not below the value; 0 for zero and everything below. */
function boundOf(value: number): number {
  if (value <= 0) return 0
  const exponent = Math.floor(Math.log10(value))
  for (let power = exponent - 1; ; power++) {
    // Through text: 10 ** -1 * 2 is not 0.2 for every power.
    const bound = [1, 2, 5].map((digit) => Number(`${digit}e${power}`)).find((one) => one >= value)
    if (bound !== undefined) return bound
  }
}
