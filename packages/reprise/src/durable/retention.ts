/**
 * How long what is over is kept, and the sweep that removes the rest in small transactions. Imports core's readers of
 * fields and the ledger's port.
 *
 * Invariants: nothing of a task that is not finished is removed but the older part of a long history, and that is
 * recorded. Unless asked for, no task, event or dead letter goes: a forgotten id is free, and the same call would run
 * again. A sweep has an end, however much there is to remove; the next one goes on.
 */
import { duration, entriesOf, readFields, type Schema, whole } from '../core/fields.js'
import { formatDuration } from '../core/duration.js'
import type { OptionProblem } from '../core/errors.js'
import { expectNone } from '../core/options.js'
import type { DurationInput } from '../core/policy.js'
import { Place, type Report } from '../core/problems.js'
import type { Compacted, Ledger } from '../ledger/ledger.js'
import { LEAST_HISTORY } from '../ledger/limits.js'
import { FINISHED_STATUSES } from '../ledger/records.js'

/** How long finished tasks and their history are kept. A duration is at least 1 minute. */
export interface RetentionInput {
  /** How long a succeeded task is kept, with its result. @default for ever @example { succeeded: '7d' } */
  readonly succeeded?: DurationInput
  /** How long a cancelled task is kept. @default for ever @example { cancelled: '7d' } */
  readonly cancelled?: DurationInput
  /**
   * How long a failed task and its dead letter are kept: a choice of its own, since people look at these.
   * @default for ever
   * @example { failed: '90d' }
   */
  readonly failed?: DurationInput
  /**
   * How long events are kept, whatever became of their tasks.
   * @default as long as their tasks
   * @example { events: '30d' }
   */
  readonly events?: DurationInput
  /**
   * Attempts kept of one task, from 10 to 100 000: of more, the older ones are removed until half of it is left.
   * @default 100
   * @example { maxHistoryPerTask: 1000 }
   */
  readonly maxHistoryPerTask?: number
}

export interface RetentionSettings {
  readonly succeededMs?: number
  readonly cancelledMs?: number
  readonly failedMs?: number
  readonly eventsMs?: number
  readonly maxHistoryPerTask: number
}

/**
 * Longer than a caller in another process needs to hear of the end (it looks every 250 ms), also if its machine is slow.
 */
const LEAST_RETENTION_MS = 60_000
/** As long as an owner may be away, and a policy between being kept and being used: a sweep must not come between. */
const GRACE_MS = 86_400_000
const MAX_HISTORY = 100_000

const kept = [(value: unknown, place: Place) => retained(value, place)] as const

const SCHEMA: Schema<RetentionSettings> = {
  succeededMs: kept,
  cancelledMs: kept,
  failedMs: kept,
  eventsMs: kept,
  maxHistoryPerTask: [(value, place) => whole(value, place, LEAST_HISTORY, MAX_HISTORY), 100],
}

/** Throws with every problem, each with its field and what to write instead. */
export function retentionOf(input: RetentionInput = {}): RetentionSettings {
  const { settings, problems } = readRetention(input)
  expectNone('openDurable', problems)
  return settings
}

/** The settings are complete only if there is no problem. */
export function readRetention(input: unknown): { settings: RetentionSettings; problems: readonly OptionProblem[] } {
  const report: Report = { problems: [], notes: [] }
  const place = new Place('retention', report)
  const settings = readFields<RetentionSettings>(entriesOf(input, place), place, SCHEMA)
  return { settings: Object.freeze(settings), problems: report.problems }
}

function retained(value: unknown, place: Place): number | undefined {
  const ms = duration(value, place, "leave it out to keep them for ever, or say '30d'")
  if (ms === undefined || ms >= LEAST_RETENTION_MS) return ms
  const least = formatDuration(LEAST_RETENTION_MS)
  return place.fail(
    `${formatDuration(ms)} is too short: whoever waits for a task must have time to hear of its end`,
    `say '${least}' or more`,
  )
}

/** Rows that a sweep removed, and whether there is more. */
export interface Swept {
  /** Tasks removed. */
  readonly tasks: number
  /** Rows of attempts removed. */
  readonly attempts: number
  /** Events removed. */
  readonly events: number
  /** Dead letters removed. */
  readonly deadLetters: number
  /** Tasks whose history was shortened. */
  readonly shortened: number
  /** Policies removed. */
  readonly policies: number
  /** Owners removed. */
  readonly owners: number
  /** Bytes given back to the system. */
  readonly reclaimedBytes: number
  /** It stopped at its limit: the next sweep may come at once. */
  readonly more: boolean
}

export interface SweepLimits {
  /** Tasks in one transaction, for about so long others cannot write: 200 take 5 ms. */
  readonly batch?: number
  /** Transactions for each kind of thing in one sweep. */
  readonly batches?: number
}

export class Retention {
  private readonly ledger: Ledger
  private readonly settings: RetentionSettings
  private readonly batch: number
  private readonly batches: number
  private running: Promise<Swept> | undefined = undefined
  private stopped = false

  constructor(ledger: Ledger, settings: RetentionSettings, limits: SweepLimits = {}) {
    this.ledger = ledger
    this.settings = settings
    this.batch = limits.batch ?? 200
    this.batches = limits.batches ?? 50
  }

  /** One bounded sweep; who asks while one is under way gets that one's answer. */
  sweep(): Promise<Swept> {
    this.running ??= this.sweepOnce().finally(() => {
      this.running = undefined
    })
    return this.running
  }

  /** What is under way ends after its batch, and nothing is swept any more. */
  stop(): void {
    this.stopped = true
  }

  private async sweepOnce(): Promise<Swept> {
    const counts = {
      tasks: 0,
      attempts: 0,
      events: 0,
      deadLetters: 0,
      shortened: 0,
      policies: 0,
      owners: 0,
      reclaimedBytes: 0,
    }
    let more = false
    const add = (removed: Partial<Counts>): void => {
      for (const [kind, count] of Object.entries(removed)) counts[kind as keyof Counts] += count
    }
    for (const step of this.steps()) more = (await this.repeat(step, add)) || more
    return { ...counts, more }
  }

  private steps(): readonly Step[] {
    const { ledger, batch: limit } = this
    const { eventsMs, maxHistoryPerTask } = this.settings
    const forgetting = FINISHED_STATUSES.flatMap((status) => {
      const keptMs = this.settings[`${status}Ms`]
      if (keptMs === undefined) return []
      return async (now: number) => {
        const forgotten = await ledger.forget({ status, beforeMs: now - keptMs, limit })
        return { removed: forgotten, size: forgotten.tasks }
      }
    })
    const compacting = [
      async () => compacted(await ledger.compact({ maxHistoryPerTask, limit }), 'tasks'),
      async (now: number) => compacted(await ledger.compact({ policiesBeforeMs: now - GRACE_MS, limit }), 'policies'),
      async () => {
        const beforeMs = (await ledger.leaseNow()) - GRACE_MS
        return compacted(await ledger.compact({ ownersBeforeMs: beforeMs, limit }), 'owners')
      },
    ]
    // Last, since what goes before it makes the room; one bit of it per sweep.
    const reclaiming = async (): Promise<Batch> => {
      const { reclaimedBytes } = await ledger.compact({ reclaim: true, limit })
      return { removed: { reclaimedBytes }, size: 0 }
    }
    if (eventsMs === undefined) return [...forgetting, ...compacting, reclaiming]
    const events = async (now: number): Promise<Batch> =>
      compacted(await ledger.compact({ eventsBeforeMs: now - eventsMs, limit }), 'events')
    return [...forgetting, ...compacting, events, reclaiming]
  }

  /** Until a batch is not full; true if it never was. */
  private async repeat(step: Step, add: (removed: Batch['removed']) => void): Promise<boolean> {
    for (let round = 0; round < this.batches && !this.stopped; round++) {
      const { removed, size } = await step(await this.ledger.now())
      add(removed)
      if (size < this.batch) return false
      // Others have their turn: what they have to write is not in one transaction with all of this.
      await new Promise((resolve) => setImmediate(resolve))
    }
    return true
  }
}

type Counts = Omit<Swept, 'more'>

interface Batch {
  readonly removed: Partial<Counts>
  /** Of what the limit is about: if it is full, there may be more. */
  readonly size: number
}

type Step = (now: number) => Promise<Batch>

function compacted({ tasks, ...removed }: Compacted, kind: keyof Compacted): Batch {
  return { removed: { ...removed, shortened: tasks }, size: kind === 'tasks' ? tasks : removed[kind] }
}

/** When the driver's timer should sweep again. */
export function pauseAfterMs({ more }: Swept): number {
  return more ? 1000 : 60_000
}
