/**
 * What a job has counted, kept with it and added to the sums over all jobs once every datacenter has reported: metrics then
 * read neither its budget nor its datacenters again, and the sums outlive it. Imports the records and the library.
 *
 * Invariant: the sums are those of the tallies that jobs have, or had when they were removed.
 */
import type { GateRecord, Json, Ledger, RunRecord, View } from 'reprise/durable'
import type { Changes } from 'reprise/internal'
import { budgetOf } from '../record/budget-record.js'
import { datacenterOf } from '../record/datacenter-record.js'
import { type JobCounts, jobOf, type JobRun, NOTHING_COUNTED, runOfJob } from '../record/job-record.js'
import { budgetKeys, datacenterRun, tallyKey } from '../record/names.js'

/** Every datacenter has reported: nothing is counted any more, unless the job is retried by hand. */
export function isSettled({ detail: { targets, slots } }: JobRun): boolean {
  return targets.every((name) => slots[name] !== undefined)
}

/** What a job has counted so far. */
export async function countJob(ledger: Ledger, { id, detail }: JobRun): Promise<JobCounts> {
  const keys = budgetKeys(id, detail)
  const gates = await ledger.transact({ tasks: [], gates: keys }, (view) => ({
    result: keys.flatMap((key) => view.gate(key) ?? []),
  }))
  const sites = await Promise.all(detail.targets.map((name) => ledger.run(datacenterRun(id, name))))
  return countsOf(
    gates,
    sites.flatMap((site) => site ?? []),
  )
}

function countsOf(gates: readonly GateRecord[], sites: readonly RunRecord[]): JobCounts {
  const budgets = gates.map((gate) => budgetOf(gate).state)
  return {
    grants: budgets.reduce((sum, { grants }) => sum + grants, 0),
    refunds: budgets.reduce((sum, { refunds }) => sum + refunds, 0),
    denied: sites.reduce((sum, run) => sum + datacenterOf(run).detail.denied, 0),
  }
}

/** What the timer sees: the counts, and the round that they are of; null: the job is not settled. */
export async function readTally(ledger: Ledger, id: string): Promise<Json> {
  const run = await ledger.run(id)
  const job = run && jobOf(run)
  if (job === undefined || !isSettled(job)) return null
  return { ...(await countJob(ledger, job)), round: job.resumes }
}

export function keepTally(view: View, job: JobRun, seen: Json): Changes {
  const tally = seen as unknown as (JobCounts & { readonly round: number }) | null
  if (tally === null || tally.round !== job.resumes || !isSettled(job)) return {}
  return addTally(view, job, tally)
}

/** The rows that `tallyAtRemoval` needs beside those of the job and its datacenters. */
export function gatesOfTally({ id, detail }: JobRun): string[] {
  return [tallyKey(id), ...budgetKeys(id, detail)]
}

/** Of a job that is removed before every datacenter has reported: what it has counted so far stays in the sums. */
export function tallyAtRemoval(view: View, job: JobRun): Changes {
  const { id, detail } = job
  const gates = budgetKeys(id, detail).flatMap((key) => view.gate(key) ?? [])
  const sites = detail.targets.flatMap((name) => view.run(datacenterRun(id, name)) ?? [])
  return addTally(view, job, { ...countsOf(gates, sites), round: job.resumes })
}

function addTally(view: View, job: JobRun, tally: JobCounts & { readonly round: number }): Changes {
  const { round: _round, ...counts } = tally
  const before = job.detail.tally ?? NOTHING_COUNTED
  const key = tallyKey(job.id)
  const sums = (view.gate(key)?.state ?? NOTHING_COUNTED) as unknown as JobCounts
  const names = Object.keys(NOTHING_COUNTED) as (keyof JobCounts)[]
  const state = Object.fromEntries(names.map((name) => [name, sums[name] + counts[name] - before[name]]))
  return {
    runs: [{ run: runOfJob({ ...job, detail: { ...job.detail, tally: { ...tally } } }) }],
    gates: [{ key, kind: 'record', state }],
  }
}
