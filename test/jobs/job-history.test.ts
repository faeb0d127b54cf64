/** The checker of jobs tells of every promise that was broken: each test breaks one in the rows of a sound job. */
import { describe, expect, it } from 'vitest'
import type { GateRecord, Json, Ledger, RunRecord, TaskRecord, View } from 'reprise/durable'
import { budgetKey, datacenterRun, workflowKey } from '../../packages/jobs/src/record/names.js'
import { faultsOfJob, ResultWatch } from './job-history.js'
import { failSome, jobsPlaces, named, STORES } from './jobs-fixture.js'

type Detail = Readonly<Record<string, Json>>

const key = workflowKey(datacenterRun('j', 'eu'), 'w1')

/** What each broken promise looks like in the rows. */
const BROKEN: readonly (readonly [fault: RegExp, how: (view: View) => object])[] = [
  [/J1: 2 used, 1 granted/, (view) => ({ gates: [gateWith(view, { used: 2 })] })],
  [/J1: 9 used of 8/, (view) => ({ gates: [gateWith(view, { used: 9, grants: 9 })] })],
  [/J1: 0 granted, and tasks were charged 1/, (view) => ({ gates: [gateWith(view, { used: 0, grants: 0 })] })],
  [/J1: j\/eu\/w1 was charged 4 of 3/, (view) => ({ tasks: [taskWith(view, { allotted: 4 })] })],
  [/J1: j\/eu\/w1 has made 2 attempts for 0 retries/, (view) => ({ tasks: [taskWith(view, { allotted: 0 })] })],
  [/J2: 2 completions in 1 rounds/, () => ({ events: [event('JobCompleted')] })],
  [/J2: 2 events BestEffortCompletion for what happened 1 times/, () => ({ events: [event('BestEffortCompletion')] })],
  [/J2: 1 events LateDatacenterResult for what happened 0 times/, () => ({ events: [event('LateDatacenterResult')] })],
  [/J3: j\/eu counts .*"succeeded":1/, (view) => ({ runs: [{ run: siteWith(view, { total: 2, succeeded: 1 }) }] })],
  [/J4: j\/eu\/w1 has 2 attempts of 3/, (view) => ({ tasks: [denied(taskWith(view, {}, 3))] })],
  [/J4: j\/eu\/w1 ran after its denial/, (view) => ({ tasks: [denied({ ...taskWith(view, {}), updatedAtMs: 1 })] })],
  [/I3: j\/eu\/w1 has no place/, (view) => ({ tasks: [{ ...taskWith(view, {}), status: 'waiting', dueAtMs: null }] })],
]

function gateWith(view: View, state: object): GateRecord {
  const gate = view.gate(budgetKey('j')) as GateRecord
  return { ...gate, state: { ...(gate.state as Detail), ...state } }
}

function taskWith(view: View, progress: object, launched = 2): TaskRecord {
  const task = view.task(key) as TaskRecord
  return { ...task, progress: { ...task.progress, ...progress, retry: { ...task.progress.retry, launched } } }
}

function denied(task: TaskRecord): TaskRecord {
  return { ...task, status: 'failed', stopReason: 'budget_denied' }
}

function siteWith(view: View, counts: object): RunRecord {
  const run = view.run('j/eu') as RunRecord
  const detail = run.detail as Detail
  return { ...run, detail: { ...detail, counts: { ...(detail['counts'] as Detail), ...counts } } }
}

function event(name: string): object {
  const about = { scopeKind: 'run', scope: 'j', id: '', atMs: 1, correlationId: 'c' }
  return { type: 'run_changed', ...about, detail: { event: name } }
}

describe.each(STORES.slice(0, 1))('the checker of jobs on $name', (store) => {
  const place = jobsPlaces(store)

  const soundJob = async (): Promise<Ledger> => {
    const shared = await place()
    const jobs = await shared.open()
    await jobs.work({ datacenter: 'eu', handlers: { some: failSome } })
    const workflows = named(2, (index) => ({ fails: index }))
    const request = { job_id: 'j', datacenters: ['eu'], workflows, retry_budget: 8, best_effort: true }
    await (await jobs.submit(request)).result()
    const ledger = await shared.ledger()
    expect(await faultsOfJob(ledger, 'j')).toEqual([])
    return ledger
  }

  const change = (ledger: Ledger, how: (view: View) => object): Promise<void> =>
    ledger.transact({ runs: ['j', 'j/eu'], gates: [budgetKey('j')], tasks: [key] }, (view) => ({
      ...how(view),
      result: undefined,
    }))

  it.each(BROKEN)('tells %s', async (fault, how) => {
    const ledger = await soundJob()
    await change(ledger, how)
    expect((await faultsOfJob(ledger, 'j')).join('\n')).toMatch(fault)
  })

  it('tells J5 where a result changes after the completion', async () => {
    const ledger = await soundJob()
    const watch = new ResultWatch(ledger)
    await watch.look('j')
    await watch.look('j')
    expect(watch.faults).toEqual([])
    await change(ledger, (view) => ({ tasks: [{ ...taskWith(view, {}), result: { attempts: 3 } }] }))
    await watch.look('j')
    expect(watch.faults.join()).toMatch(/J5: j was/)
  })
})
