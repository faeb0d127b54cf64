/**
 * `fill-child.js FILE STEPS MARK`: a run with so many steps that have ended well, and one more that has not begun and
 * leaves a file when it does. Written in bulk, as the driver would have written it one by one. Imports the library.
 */
import { randomUUID } from 'node:crypto'
import { openLedger } from '../../packages/reprise/src/open/index.js'
import { recordOf } from '../../packages/reprise/src/durable/policy-record.js'
import { freshProgress } from '../../packages/reprise/src/durable/transitions.js'
import { normalizePolicy } from '../../packages/reprise/src/core/normalize.js'
import type { AttemptRow, RunRecord, TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { fingerprintOf } from '../../packages/workflow/src/plan/build-plan.js'

const [file = '', count = '1000', mark = ''] = process.argv.slice(2)
const BATCH = 2000
const RUN = 'large'
const OWNER = randomUUID()
const policy = recordOf(normalizePolicy({ attempts: 1 }).policy, 'rerun')
const now = Date.now()

const ids = Array.from({ length: Number(count) }, (_, i) => `s${i}`)
const done = ids.map((id) => ({ id, run: ['true'] }))
const document = { name: RUN, steps: [...done, { id: 'last', run: ['touch', mark] }] }

const run: RunRecord = {
  id: RUN,
  kind: 'workflow',
  name: RUN,
  status: 'interrupted',
  owner: null,
  fence: 1,
  resumes: 0,
  fingerprint: fingerprintOf(document),
  detail: {
    file: null,
    cwd: process.cwd(),
    documentDir: process.cwd(),
    params: {},
    stopReason: null,
    failedStep: null,
    steps: document.steps.length,
    isInOrder: true,
  },
  correlationId: randomUUID(),
  createdAtMs: now,
  updatedAtMs: now,
  endedAtMs: null,
}

function taskOf(id: string): TaskRecord {
  const { retry, ...fresh } = freshProgress(1)
  return {
    scopeKind: 'run',
    scope: RUN,
    id,
    queue: `${RUN}/${id}`,
    generation: 1,
    status: 'succeeded',
    dueAtMs: null,
    owner: null,
    fence: 1,
    progress: { ...fresh, retry: { ...retry, launched: 1 } },
    policyHash: policy.hash,
    input: null,
    result: { exit_code: 0, attempts: 1 },
    stopReason: null,
    correlationId: randomUUID(),
    createdAtMs: now,
    updatedAtMs: now,
  }
}

function attemptOf({ id }: TaskRecord): AttemptRow {
  const times = { startedAtMs: now, endedAtMs: now, delayBeforeMs: 0 }
  const outcome = { outcome: 'success', failure: null, signature: null } as const
  return {
    scopeKind: 'run',
    scope: RUN,
    id,
    generation: 1,
    attempt: 1,
    execution: 1,
    ...times,
    ...outcome,
    owner: OWNER,
  }
}

const ledger = await openLedger(`sqlite:${file}`)
await ledger.transact({ tasks: [], runs: [RUN] }, () => ({
  runs: [{ run, definition: document }],
  result: undefined,
}))
for (let first = 0; first < ids.length; first += BATCH) {
  const tasks = ids.slice(first, first + BATCH).map(taskOf)
  await ledger.create(tasks.map((task) => ({ task, policy, payloadHash: '' })))
  await ledger.transact({ tasks }, () => ({ attempts: tasks.map(attemptOf), result: undefined }))
}
await ledger.close()
