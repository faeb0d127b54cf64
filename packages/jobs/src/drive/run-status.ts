/** How jobs and datacenters stand as runs of the ledger, for what looks at runs of every kind. Pure. */
import type { RunStatus } from 'reprise/internal'
import type { Completion } from '../rules/completion.js'
import type { DatacenterEnd } from '../rules/datacenter-end.js'

export function datacenterStatus(end: DatacenterEnd): RunStatus {
  return end === 'completed' ? 'succeeded' : end
}

export function jobStatus({ reason, outcome, success }: Completion): RunStatus {
  if (reason === 'cancelled') return 'cancelled'
  if (outcome === 'complete') return 'succeeded'
  return success ? 'completed_with_failures' : 'failed'
}
