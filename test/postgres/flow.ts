/** Tasks that pass through a ledger as a driver passes them: created, claimed, tried twice, ended. Imports the port. */
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { type TaskRecord, nameOf } from '../../packages/reprise/src/ledger/records.js'
import { sampleAttempt, sampleEvent } from '../../packages/reprise/src/testing/sample-history.js'
import { newTask } from '../../packages/reprise/src/testing/sample-task.js'

const OWNER = { id: 'me', host: 'h', pid: 1, processStart: '5', bootId: 'b', startedAtMs: 1 }
const BATCH = 100

/** Every eighth of them fails for good. */
export async function passThrough(ledger: Ledger, round: number, count: number, now: number): Promise<void> {
  await ledger.heartbeat({ ...OWNER, leaseUntilMs: now + 1000 })
  const policyHash = `p${round}`
  const tasks = Array.from({ length: count }, (_, index) => ({
    ...newTask({
      id: `${round}-${index}`,
      dueAtMs: now,
      createdAtMs: now,
      updatedAtMs: now,
      policyHash,
      input: { text: 'x'.repeat(200) },
    }),
    policy: { hash: policyHash, policy: {} },
  }))
  await ledger.create(tasks)
  const failing = new Set(tasks.flatMap(({ task }, index) => (index % 8 === 0 ? nameOf(task) : [])))
  for (let claimed = 0; claimed < count; claimed += BATCH) {
    const running = await ledger.claim({ queues: [{ queue: 'mail', policyHash }], limit: BATCH }, (task) => {
      const taken: TaskRecord = { ...task, status: 'running', dueAtMs: null, owner: OWNER.id, fence: task.fence + 1 }
      return { tasks: [taken], result: taken }
    })
    await Promise.all(running.map((task) => finish(ledger, task, failing.has(nameOf(task)), now)))
  }
}

/** The second attempt asks a gate, as one under a budget does. */
async function finish(ledger: Ledger, task: TaskRecord, fails: boolean, now: number): Promise<void> {
  await ledger.transact({ tasks: [task] }, (view) => ({
    tasks: [{ ...(view.task(task) as TaskRecord), updatedAtMs: now }],
    attempts: [sampleAttempt(task, { endedAtMs: now })],
    result: 0,
  }))
  await ledger.transact({ tasks: [task], gates: ['budget'] }, (view) => ({
    tasks: [
      {
        ...(view.task(task) as TaskRecord),
        status: fails ? 'failed' : 'succeeded',
        owner: null,
        stopReason: fails ? 'attempts_exhausted' : null,
        updatedAtMs: now,
      },
    ],
    attempts: [sampleAttempt(task, { attempt: 2, endedAtMs: now, outcome: fails ? 'failure' : 'success' })],
    gates: [{ key: 'budget', kind: 'budget', state: { used: now } }],
    dead: fails
      ? [
          {
            scopeKind: task.scopeKind,
            scope: task.scope,
            id: task.id,
            generation: 1,
            atMs: now,
            signature: 'Error: no luck',
            stopReason: 'attempts_exhausted',
            failure: null,
          },
        ]
      : [],
    events: [sampleEvent(task, { atMs: now })],
    result: 0,
  }))
}
