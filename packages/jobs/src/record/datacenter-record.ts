/**
 * A datacenter of a job as the detail of its run: how many of its workflows ended in which way, and how many needs each
 * waiting workflow has left. Read with checks. Imports the rules and the library's types.
 */
import type { Json, RunRecord } from 'reprise/durable'
import { DATACENTER_ENDS, type DatacenterEnd, type WorkflowCounts } from '../rules/datacenter-end.js'
import { countIn, damaged, type Fields, fieldsOf, textIn, wordIn } from './damaged-record.js'

interface DatacenterDetail {
  readonly job: string
  readonly counts: WorkflowCounts
  /** By workflow: needs that have not succeeded yet. A workflow that may start is not named. */
  readonly blocked: Readonly<Record<string, number>>
  /** Workflows whose retry a budget denied. */
  readonly denied: number
  /** null: a workflow is open. */
  readonly end: DatacenterEnd | null
  /** 0, and one more with every `job retry` that has reached it. */
  readonly round: number
}

export interface DatacenterRun extends Omit<RunRecord, 'detail'> {
  readonly detail: DatacenterDetail
}

export function datacenterOf(run: RunRecord): DatacenterRun {
  const what = `datacenter ${run.id}`
  const fields = fieldsOf(run.detail, what)
  const blocked = fieldsOf(fields['blocked'], what)
  for (const name of Object.keys(blocked)) countIn(blocked, name, what)
  return {
    ...run,
    detail: {
      job: textIn(fields, 'job', what),
      counts: countsIn(fieldsOf(fields['counts'], what), what),
      blocked: blocked as Readonly<Record<string, number>>,
      denied: countIn(fields, 'denied', what),
      end: fields['end'] === null ? null : wordIn(fields, 'end', DATACENTER_ENDS, what),
      round: countIn(fields, 'round', what),
    },
  }
}

export function runOfDatacenter({ detail, ...run }: DatacenterRun): RunRecord {
  return { ...run, detail: detail as unknown as Json }
}

/** They never exceed the workflows that there are. */
export function countsIn(fields: Fields, what: string): WorkflowCounts {
  const count = (name: string): number => countIn(fields, name, what)
  const counts = {
    total: count('total'),
    succeeded: count('succeeded'),
    failed: count('failed'),
    skipped: count('skipped'),
    cancelled: count('cancelled'),
  }
  const { total, succeeded, failed, skipped, cancelled } = counts
  if (succeeded + failed + skipped + cancelled > total) throw damaged(what, 'more workflows have ended than there are')
  return counts
}
