/**
 * How a datacenter stands in a job: from the ends of its workflows to its own end. Pure. Imports the settings.
 */
import type { EffectiveSettings } from './clamp.js'

/** Workflows of one datacenter by how they ended; the rest is open. */
export interface WorkflowCounts {
  /** All workflows. */
  readonly total: number
  /** Ended with success. */
  readonly succeeded: number
  /** Ended without it. */
  readonly failed: number
  /** A workflow that they need did not succeed. */
  readonly skipped: number
  /** Ended by order. */
  readonly cancelled: number
}

export const DATACENTER_ENDS = ['completed', 'completed_with_failures', 'failed', 'cancelled'] as const

/** How a datacenter ended: all workflows succeeded, some did, none did, or it was cancelled. */
export type DatacenterEnd = (typeof DATACENTER_ENDS)[number]

export function openWorkflows({ total, succeeded, failed, skipped, cancelled }: WorkflowCounts): number {
  return total - succeeded - failed - skipped - cancelled
}

/** null: a workflow is still open. A datacenter of which anything was cancelled is cancelled. */
export function datacenterEnd(counts: WorkflowCounts): DatacenterEnd | null {
  if (openWorkflows(counts) > 0) return null
  if (counts.cancelled > 0) return 'cancelled'
  if (counts.succeeded === counts.total) return 'completed'
  return counts.succeeded > 0 ? 'completed_with_failures' : 'failed'
}

/** Whether the datacenter counts toward the minimum of datacenters. */
export function countsTowardMinimum(
  end: DatacenterEnd | null,
  datacenterSuccess: EffectiveSettings['datacenterSuccess'],
): boolean {
  return end === 'completed' || (end === 'completed_with_failures' && datacenterSuccess === 'any')
}

/**
 * When a datacenter is recorded failed because no worker of it has claimed anything; null: never. `firstClaimAtMs` is
 * null until a worker has claimed something.
 */
export function dispatchExpiresAtMs(
  { dispatchTimeoutMs }: EffectiveSettings,
  submittedAtMs: number,
  firstClaimAtMs: number | null,
): number | null {
  return dispatchTimeoutMs === null || firstClaimAtMs !== null ? null : submittedAtMs + dispatchTimeoutMs
}
