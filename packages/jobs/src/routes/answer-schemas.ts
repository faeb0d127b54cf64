/**
 * What the HTTP API answers about jobs, as JSON Schema. Every field is named, so a test finds one that is new. Pure. Imports
 * the words that the fields may be.
 */
import type { Json } from 'reprise/durable'
import { JOB_EVENTS } from '../drive/job-event.js'
import { COMPLETION_REASONS, OUTCOMES } from '../rules/completion.js'
import { DATACENTER_ENDS } from '../rules/datacenter-end.js'
import { LATE_RESULT_POLICIES } from '../rules/operator-settings.js'
import { DENIAL_REASONS } from '../rules/retry-grant.js'
import type { Schema } from './route.js'

const TEXT: Schema = { type: 'string' }
const COUNT: Schema = { type: 'integer', minimum: 0 }
const NUMBER: Schema = { type: 'number' }
const FLAG: Schema = { type: 'boolean' }
const ANY_OBJECT: Schema = { type: 'object' }

const words = (...known: readonly string[]): Schema => ({ type: 'string', enum: [...known] })
const listOf = (items: Schema): Schema => ({ type: 'array', items })
const mapOf = (values: Schema): Schema => ({ type: 'object', additionalProperties: values })

function orNull(schema: Schema): Schema {
  const { type, enum: known, ...rest } = schema
  if (typeof type !== 'string') return { anyOf: [schema, { type: 'null' }] }
  return { ...rest, type: [type, 'null'], ...(Array.isArray(known) && { enum: [...known, null] }) }
}

/** A time has its date beside it, as everywhere in our JSON. */
const MOMENT = /(?:^at|^time|At|Until)Ms$/

/** An object with all of these fields and no other. */
function exactly(fields: Readonly<Record<string, Schema>>): Schema {
  const dated = Object.entries(fields).flatMap(([name, schema]): [string, Schema][] => {
    if (!MOMENT.test(name)) return [[name, schema]]
    const isNullable = Array.isArray(schema['type'])
    const date: Schema = { type: 'string', format: 'date-time' }
    return [
      [name, schema],
      [name.slice(0, -2), isNullable ? orNull(date) : date],
    ]
  })
  const properties = Object.fromEntries(dated) as Record<string, Json>
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

/** `name` in the components of the OpenAPI document. */
export const refTo = (name: keyof typeof ANSWER_SCHEMAS): Schema => ({ $ref: `#/components/schemas/${name}` })

const SETTINGS_OF_BUDGET = {
  retryBudget: COUNT,
  retryBudgetPerWorkflow: COUNT,
  budgetScope: words('job', 'datacenter'),
  retryBudgetCounts: words('all', 'wasted'),
  onBudgetExhausted: words('fail', 'park'),
  maxDispatchAttempts: orNull(COUNT),
  dispatchTimeoutMs: orNull(COUNT),
  bestEffort: FLAG,
  minDcs: COUNT,
  settleMs: COUNT,
  strictMinDcs: FLAG,
  datacenterSuccess: words('any', 'all'),
  timeoutMs: orNull(COUNT),
  stragglers: words('run', 'cancel'),
}

const EFFECTIVE = exactly({
  ...SETTINGS_OF_BUDGET,
  deadlineMs: orNull(COUNT),
  lateResultPolicy: words(...LATE_RESULT_POLICIES),
  checkIntervalMs: COUNT,
})

const REQUESTED = exactly({
  ...SETTINGS_OF_BUDGET,
  idempotencyKey: orNull(TEXT),
  name: TEXT,
  datacenters: listOf(TEXT),
  allowsRetries: FLAG,
  deadlineMs: COUNT,
  lateResultPolicy: orNull(words(...LATE_RESULT_POLICIES)),
  aggregate: mapOf(TEXT),
})

const COUNTS = exactly({ total: COUNT, succeeded: COUNT, failed: COUNT, skipped: COUNT, cancelled: COUNT })

const SUMMARY = {
  id: TEXT,
  name: TEXT,
  state: words('running', 'completed'),
  outcome: orNull(words(...OUTCOMES)),
  success: orNull(FLAG),
  reason: orNull(words(...COMPLETION_REASONS)),
  submittedAtMs: COUNT,
  completedAtMs: orNull(COUNT),
  targets: listOf(TEXT),
  reported: COUNT,
}

const ATTEMPT = exactly({
  attempt: COUNT,
  outcome: TEXT,
  startedAtMs: COUNT,
  endedAtMs: COUNT,
  class: orNull(TEXT),
  error: orNull(TEXT),
})

const WORKFLOW_STATUS = exactly({
  name: TEXT,
  state: words(
    ...['blocked', 'waiting', 'running', 'retrying', 'parked', 'succeeded', 'failed', 'skipped', 'cancelled'],
  ),
  attempts: COUNT,
  charged: COUNT,
  nextAttemptAtMs: orNull(COUNT),
  error: orNull(TEXT),
  denied: orNull(exactly({ reason: words(...DENIAL_REASONS), used: COUNT, total: COUNT })),
  history: listOf(ATTEMPT),
})

const DATACENTER_STATUS = exactly({
  name: TEXT,
  state: words('waiting', 'running', 'suspected', ...DATACENTER_ENDS),
  counts: COUNTS,
  workers: COUNT,
  reportedAtMs: orNull(COUNT),
  isLate: FLAG,
  isCounted: FLAG,
  workflows: listOf(WORKFLOW_STATUS),
})

const BUDGET = exactly({
  datacenter: orNull(TEXT),
  total: COUNT,
  used: COUNT,
  remaining: COUNT,
  grants: COUNT,
  refunds: COUNT,
})

const CLAMP = exactly({ field: TEXT, requested: NUMBER, effective: NUMBER, sentence: TEXT })

const WORKFLOW_RESULT = exactly({
  name: TEXT,
  state: words('succeeded', 'failed', 'skipped', 'cancelled'),
  attempts: COUNT,
  retries: COUNT,
  startedAtMs: orNull(COUNT),
  endedAtMs: COUNT,
  outputs: ANY_OBJECT,
  error: orNull(TEXT),
  denied: orNull(words(...DENIAL_REASONS)),
})

const DATACENTER_RESULT = exactly({
  name: TEXT,
  state: words(...DATACENTER_ENDS),
  isLate: FLAG,
  reportedAtMs: COUNT,
  workflows: listOf(WORKFLOW_RESULT),
})

const WORKER_FIELDS = {
  id: TEXT,
  host: TEXT,
  pid: COUNT,
  slots: COUNT,
  running: COUNT,
  version: orNull(TEXT),
  isLiving: FLAG,
  lastHeartbeatAtMs: COUNT,
}

const OPERATOR = exactly({
  retryBudgetDefault: COUNT,
  retryBudgetMax: COUNT,
  retryBudgetPerWorkflowDefault: COUNT,
  retryBudgetPerWorkflowMax: COUNT,
  minDcsDefault: COUNT,
  deadlineDefaultMs: COUNT,
  deadlineMaxMs: COUNT,
  lateResultPolicy: words(...LATE_RESULT_POLICIES),
  checkIntervalMs: COUNT,
})

/** By the names that OpenAPI and the pages use. */
export const ANSWER_SCHEMAS = {
  SubmittedJob: exactly({ job: TEXT, isNew: FLAG, settings: EFFECTIVE, clamps: listOf(CLAMP) }),
  JobList: exactly({ jobs: listOf(exactly(SUMMARY)), next: orNull(TEXT) }),
  JobStatus: exactly({
    ...SUMMARY,
    requested: REQUESTED,
    effective: EFFECTIVE,
    clamps: listOf(CLAMP),
    budgets: listOf(BUDGET),
    datacenters: listOf(DATACENTER_STATUS),
    waitsFor: orNull(TEXT),
    isMinimumUnreachable: FLAG,
    version: COUNT,
  }),
  JobResult: exactly({
    jobId: TEXT,
    name: TEXT,
    outcome: words(...OUTCOMES),
    success: FLAG,
    minDcsMet: FLAG,
    reason: words(...COMPLETION_REASONS),
    version: COUNT,
    submittedAtMs: COUNT,
    completedAtMs: COUNT,
    durationMs: COUNT,
    reported: listOf(TEXT),
    completed: listOf(TEXT),
    failed: listOf(TEXT),
    missing: listOf(TEXT),
    stragglers: words('none', 'running', 'cancelled_after_completion'),
    ratio: NUMBER,
    totals: mapOf(COUNT),
    aggregates: mapOf(ANY_OBJECT),
    datacenters: listOf(DATACENTER_RESULT),
  }),
  JobEvents: exactly({
    events: listOf(exactly({ seq: COUNT, event: words(...JOB_EVENTS), jobId: TEXT, atMs: COUNT, detail: ANY_OBJECT })),
    lastSeq: COUNT,
  }),
  CancelledJob: exactly({ job: TEXT, cancelled: FLAG }),
  RetriedJob: exactly({ job: TEXT, retried: FLAG }),
  DatacenterList: exactly({
    datacenters: listOf(
      exactly({
        name: TEXT,
        disabled: orNull(TEXT),
        workers: listOf(exactly(WORKER_FIELDS)),
        slots: COUNT,
        running: COUNT,
        lastHeartbeatAtMs: orNull(COUNT),
      }),
    ),
  }),
  WorkerList: exactly({ workers: listOf(exactly({ datacenter: TEXT, ...WORKER_FIELDS })) }),
  ChangedDatacenter: exactly({ datacenter: TEXT, disabled: orNull(TEXT) }),
  JobSettings: exactly({ environment: OPERATOR, store: orNull(OPERATOR), effective: OPERATOR }),
} as const satisfies Readonly<Record<string, Schema>>
