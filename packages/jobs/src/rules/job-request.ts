/**
 * A job as it is submitted, in one form: every field checked, given its unit and its default where the operator has no say.
 *
 * Invariants: pure; two requests of the same meaning have the same `payloadHash`, whatever the order of their keys; a value
 * that the operator may limit stays as it was requested (`clamp.ts` makes the effective one). Imports the library.
 */
import { type OptionProblem, OptionsError } from 'reprise'
import type { Json } from 'reprise/durable'
import { fingerprint, Place } from 'reprise/internal'
import {
  type Fields,
  isGiven,
  knownFields,
  readCount,
  readDatacenterName,
  readFields,
  readFlag,
  readLength,
  readName,
  readSeconds,
  readWord,
} from './field-readers.js'
import type { JobWorkflow } from './job-workflow.js'
import { LATE_RESULT_POLICIES, type LateResultPolicy } from './operator-settings.js'
import { readWorkflows } from './read-workflows.js'

const AGGREGATE_KINDS = ['sum', 'min', 'max', 'mean', 'count', 'histogram'] as const

/** How an output is combined over datacenters. */
export type AggregateKind = (typeof AGGREGATE_KINDS)[number]

/** A submitted job, checked and in one spelling. */
export interface JobRequest {
  /** `job_id`, or derived from `idempotency_key`; null: the submitter chooses one. */
  readonly id: string | null
  /** The key that makes repeated submissions one job; null: none. */
  readonly idempotencyKey: string | null
  /** The same for requests that mean the same; id and key are not part of it. */
  readonly payloadHash: string
  /** For people. */
  readonly name: string
  /** What each datacenter runs. */
  readonly workflows: readonly JobWorkflow[]
  /** Each once, in the order of the request. */
  readonly datacenters: readonly string[]
  /** False: `retries: none`. */
  readonly allowsRetries: boolean
  /** 0: the operator's default. */
  readonly retryBudget: number
  /** 0: the operator's default. */
  readonly retryBudgetPerWorkflow: number
  /** Whether the job has one budget, or each datacenter one. */
  readonly budgetScope: 'job' | 'datacenter'
  /** Whether every retry counts, or only those that were wasted. */
  readonly retryBudgetCounts: 'all' | 'wasted'
  /** Whether a workflow fails or waits when the budget is used up. */
  readonly onBudgetExhausted: 'fail' | 'park'
  /** Attempts of one workflow at one datacenter; null: no ceiling of its own. */
  readonly maxDispatchAttempts: number | null
  /** How long a datacenter may go without a worker that claims anything; null: for ever. */
  readonly dispatchTimeoutMs: number | null
  /** Whether the job may complete without all its datacenters. */
  readonly bestEffort: boolean
  /** 0: the operator's default. */
  readonly minDcs: number
  /** 0: the operator's default. */
  readonly deadlineMs: number
  /** How long the job waits for further datacenters once it has its minimum. */
  readonly settleMs: number
  /** Whether fewer datacenters than the minimum are no success. */
  readonly strictMinDcs: boolean
  /** Whether a datacenter with failures counts toward the minimum. */
  readonly datacenterSuccess: 'any' | 'all'
  /** The job is over after this time; null: no limit. */
  readonly timeoutMs: number | null
  /** null: the operator's. */
  readonly lateResultPolicy: LateResultPolicy | null
  /** What becomes of datacenters that have not reported at the completion. */
  readonly stragglers: 'run' | 'cancel'
  /** By the name of an output, or `WORKFLOW.OUTPUT`. */
  readonly aggregate: Readonly<Record<string, AggregateKind>>
}

const MAX_DATACENTERS = 1_000
const MAX_AGGREGATES = 100
const MAX_KEY_LENGTH = 256

const BEST_EFFORT_FIELDS = ['min_dcs', 'deadline', 'settle']

/** The fields of a job, as the wire spells them. */
export const JOB_FIELDS = [
  ...['job_id', 'idempotency_key', 'name', 'workflows', 'datacenters', 'retries'],
  ...['retry_budget', 'retry_budget_per_workflow', 'budget_scope', 'retry_budget_counts', 'on_budget_exhausted'],
  ...['max_dispatch_attempts', 'dispatch_timeout', 'best_effort', 'best_effort_min_dcs'],
  ...['best_effort_deadline_seconds', 'best_effort_settle_seconds', 'strict_min_dcs', 'datacenter_success'],
  ...['timeout', 'late_result_policy', 'stragglers', 'aggregate'],
] as const

/** Throws an `OptionsError` that names every field that is wrong. */
export function readJobRequest(value: unknown): JobRequest {
  const { request, problems } = checkJobRequest(value)
  if (request === undefined) throw new OptionsError('the job', problems)
  return request
}

/** The request, or every problem of it, each with the path of its field. */
export function checkJobRequest(value: unknown): { request?: JobRequest; problems: readonly OptionProblem[] } {
  const place = new Place('', { problems: [], notes: [] })
  const { problems } = place.report
  const given = readFields(place, value, 'a job: an object with `workflows` and `datacenters`')
  if (given === undefined) return { problems }
  const fields = knownFields(place, given, JOB_FIELDS)
  const request = readAll(place, fields)
  return problems.length === 0 ? { request, problems } : { problems }
}

function readAll(place: Place, fields: Fields): JobRequest {
  /** The value of a field, or `absent` where it is not given or wrong. */
  const read = <T>(name: string, absent: T, reader: (place: Place, value: unknown) => T | undefined): T =>
    isGiven(fields[name]) ? (reader(place.at(name), fields[name]) ?? absent) : absent
  const word = <W extends string>(name: string, words: readonly [W, ...W[]]): W =>
    read(name, words[0], (at, value) => readWord(at, value, words))
  const datacenters = readDatacenters(place, fields['datacenters'])
  const payload = {
    name: read('name', 'job', readName),
    datacenters,
    workflows: readWorkflows(place.at('workflows'), fields['workflows'], datacenters),
    allowsRetries: read('retries', true, (at, value) =>
      readWord(at, value, ['none']) === undefined ? undefined : false,
    ),
    retryBudget: read('retry_budget', 0, readCount),
    retryBudgetPerWorkflow: read('retry_budget_per_workflow', 0, readCount),
    budgetScope: word('budget_scope', ['job', 'datacenter']),
    retryBudgetCounts: word('retry_budget_counts', ['all', 'wasted']),
    onBudgetExhausted: word('on_budget_exhausted', ['fail', 'park']),
    maxDispatchAttempts: read<number | null>('max_dispatch_attempts', null, (at, value) => readCount(at, value, 1)),
    dispatchTimeoutMs: read<number | null>('dispatch_timeout', null, readLimit),
    ...readBestEffort(place, fields, read),
    strictMinDcs: read('strict_min_dcs', true, readFlag),
    datacenterSuccess: word('datacenter_success', ['any', 'all']),
    timeoutMs: read<number | null>('timeout', null, readLimit),
    lateResultPolicy: read<LateResultPolicy | null>('late_result_policy', null, (at, value) =>
      readWord(at, value, LATE_RESULT_POLICIES),
    ),
    stragglers: word('stragglers', ['run', 'cancel']),
    aggregate: read('aggregate', {}, readAggregate),
  }
  checkTogether(place, fields, payload)
  const idempotencyKey = read<string | null>('idempotency_key', null, readKey)
  const id = read<string | null>('job_id', idempotencyKey === null ? null : idFromKey(idempotencyKey), readName)
  // Not of a request that is wrong: what stands in it need not be JSON.
  const payloadHash = place.report.problems.length === 0 ? fingerprint(payload as unknown as Json) : ''
  return { id, idempotencyKey, payloadHash, ...payload }
}

/** The id of every job that is submitted with this key and without an id. */
export function idFromKey(idempotencyKey: string): string {
  return `job-${fingerprint({ idempotencyKey }).slice(0, 20)}`
}

function readKey(place: Place, value: unknown): string | undefined {
  if (typeof value === 'string' && value !== '' && value.length <= MAX_KEY_LENGTH) return value
  return place.fail(`${describe(value)} is not a key: a text of 1 to ${MAX_KEY_LENGTH} characters`)
}

function describe(value: unknown): string {
  return typeof value === 'string' ? `a text of ${value.length} characters` : typeof value
}

/** A limit in time: longer than nothing. */
function readLimit(place: Place, value: unknown): number | undefined {
  const ms = readLength(place, value)
  return ms === 0 ? place.fail('0ms leaves no time at all: leave the field out for no limit') : ms
}

function readDatacenters(place: Place, value: unknown): readonly string[] {
  const at = place.at('datacenters')
  if (!Array.isArray(value) || value.length === 0) {
    at.fail('names no datacenter: say where the job runs, such as [eu, us]')
    return []
  }
  if (value.length > MAX_DATACENTERS) {
    at.fail(`has ${value.length} datacenters, and a job at most ${MAX_DATACENTERS}`)
    return []
  }
  const names = value.map((name, index) => readDatacenterName(at.item(index), name))
  return [...new Set(names.filter((name) => name !== undefined))]
}

type Reader = <T>(name: string, absent: T, reader: (place: Place, value: unknown) => T | undefined) => T

/** As flat fields of the wire, or in one object with durations, as people write it. */
function readBestEffort(
  place: Place,
  fields: Fields,
  read: Reader,
): Pick<JobRequest, 'bestEffort' | 'minDcs' | 'deadlineMs' | 'settleMs'> {
  const flat = {
    minDcs: read('best_effort_min_dcs', 0, readCount),
    deadlineMs: read('best_effort_deadline_seconds', 0, readSeconds),
    settleMs: read('best_effort_settle_seconds', 0, readSeconds),
  }
  const value = fields['best_effort']
  const at = place.at('best_effort')
  if (!isGiven(value) || typeof value !== 'object') return { bestEffort: read('best_effort', false, readFlag), ...flat }
  const given = readFields(at, value, 'true, false, or an object with min_dcs, deadline and settle')
  if (given === undefined) return { bestEffort: true, ...flat }
  const { min_dcs: minDcs, deadline, settle } = knownFields(at, given, BEST_EFFORT_FIELDS)
  const twice: readonly [string, unknown][] = [
    ['best_effort_min_dcs', minDcs],
    ['best_effort_deadline_seconds', deadline],
    ['best_effort_settle_seconds', settle],
  ]
  for (const [name, inner] of twice) {
    if (isGiven(inner) && isGiven(fields[name])) place.at(name).fail('is given twice: in `best_effort` too')
  }
  return {
    bestEffort: true,
    minDcs: isGiven(minDcs) ? (readCount(at.at('min_dcs'), minDcs) ?? 0) : flat.minDcs,
    deadlineMs: isGiven(deadline) ? (readLength(at.at('deadline'), deadline) ?? 0) : flat.deadlineMs,
    settleMs: isGiven(settle) ? (readLength(at.at('settle'), settle) ?? 0) : flat.settleMs,
  }
}

const AGGREGATE_NAME = /^([A-Za-z0-9][A-Za-z0-9._-]{0,99}\.)?[A-Za-z_][A-Za-z0-9_]{0,127}$/

function readAggregate(place: Place, value: unknown): Readonly<Record<string, AggregateKind>> | undefined {
  const given = readFields(place, value, 'an object such as { requests: sum }')
  if (given === undefined) return undefined
  const entries = Object.entries(given)
  if (entries.length > MAX_AGGREGATES) return place.fail(`has ${entries.length} outputs, and at most ${MAX_AGGREGATES}`)
  return Object.fromEntries(
    entries.flatMap(([name, kind]): [string, AggregateKind][] => {
      const at = place.at(name)
      if (!AGGREGATE_NAME.test(name)) at.fail('is not the name of an output, or WORKFLOW.OUTPUT')
      const found = readWord(at, kind, AGGREGATE_KINDS)
      return found === undefined ? [] : [[name, found]]
    }),
  )
}

/** What fields mean together. */
function checkTogether(
  place: Place,
  fields: Fields,
  payload: Omit<JobRequest, 'id' | 'idempotencyKey' | 'payloadHash'>,
): void {
  const { allowsRetries, bestEffort, timeoutMs, onBudgetExhausted } = payload
  for (const name of ['retry_budget', 'retry_budget_per_workflow']) {
    const value = fields[name]
    if (!allowsRetries && typeof value === 'number' && value > 0) {
      place.at(name).fail('contradicts `retries: none`: leave one of them out')
    }
  }
  const isParked = onBudgetExhausted === 'park'
  // Nothing else would end a job whose workflows wait for a budget that never comes back.
  if (isParked && !bestEffort && timeoutMs === null) {
    place.at('on_budget_exhausted').fail('`park` needs `timeout` or `best_effort`, or the job might never end')
  }
}
