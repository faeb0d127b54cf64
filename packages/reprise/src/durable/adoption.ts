/**
 * Tasks that wait, as another program or another time left them: whose policy is not this program's, whose state cannot
 * be, and whose wait a clock that was set back would lengthen. Imports the ledger's port and its own layer.
 */
import type { Random } from '../core/time.js'
import { FRESH_RANK, RETRY_RANK } from '../ledger/claim-order.js'
import type { AttemptCounts, SurveyEnd, Ledger, WaitingCount } from '../ledger/ledger.js'
import { keyOf, type PolicyRecord, type TaskKey, type TaskRecord, TERMINAL } from '../ledger/records.js'
import type { Definition } from './definition.js'
import { TaskRefusedError } from './errors.js'
import { differences } from './policy-record.js'
import { faultsOfHistory, faultsOfState, lacksState } from './state-check.js'
import { faultsOfShape } from './task-shape.js'
import { acceptPolicy, migrate, seedOf, sinceSetBack } from './transitions.js'

/** A task that waits with another policy than this program has for it. */
export interface SkippedTask extends TaskKey {
  /** The fields of the policy that differ. */
  readonly changes: ReturnType<typeof differences>
}

/** A task whose record is inconsistent. */
export interface RefusedTask extends TaskKey {
  /** What is inconsistent, in sentences. */
  readonly faults: readonly string[]
  /** The record. */
  readonly task: TaskRecord
}

export interface Waiting {
  waiting: number
  readonly skipped: SkippedTask[]
  skippedCount: number
  readonly refused: RefusedTask[]
  /** Written before there was a retry state: they have a fresh one now. */
  migrated: number
}

/** At most this many tasks with another policy are listed; the others are counted. */
const MAX_SKIPPED = 1000
const BATCH = 1000
/** What the store counts: more at once, but no longer than the event loop can wait. */
const COUNTED_BATCH = 5000

export class Adoption {
  private readonly ledger: Ledger
  private readonly policyChange: 'refuse' | 'accept'
  private readonly random: Random

  constructor(ledger: Ledger, policyChange: 'refuse' | 'accept', random: Random) {
    this.ledger = ledger
    this.random = random
    this.policyChange = policyChange
  }

  /**
   * Looks at what waits, and adopts what it may. Very many may wait with this program's policy: fresh tasks, and retries if
   * they are more than a batch, are counted by the store, and only those are looked at that are not as the driver leaves
   * them. A fault that the store does not see is found by the claim, before anything runs.
   */
  async lookAtWaiting(definition: Definition): Promise<Waiting> {
    const found: Waiting = { waiting: 0, skipped: [], skippedCount: 0, refused: [], migrated: 0 }
    const { queue, record } = definition
    const counts = await this.ledger.countWaiting(queue)
    const isOwn = ({ policyHash }: WaitingCount): boolean => policyHash === record.hash
    // Before the others: a task that takes the new policy would be counted twice.
    for (const count of counts.filter(isOwn)) {
      const isCounted = count.rank === FRESH_RANK || (count.rank === RETRY_RANK && count.tasks > BATCH)
      if (isCounted) await this.countGroup(definition, count.rank, found)
      else await this.lookAtGroup(definition, count, found)
    }
    for (const count of counts.filter((one) => !isOwn(one))) await this.lookAtGroup(definition, count, found)
    return found
  }

  private async countGroup(definition: Definition, rank: number, found: Waiting): Promise<void> {
    const { ledger } = this
    const { queue, record, policy } = definition
    const group = { queue, policyHash: record.hash, rank, attempts: policy.attempts }
    let after: SurveyEnd | undefined
    do {
      const from = { ...group, nowMs: await ledger.now(), ...(after && { after }) }
      const page = await ledger.survey({ ...from, limit: COUNTED_BATCH })
      found.waiting += page.sound
      for (let first = 0; first < page.others.length; first += BATCH)
        await this.lookAt(definition, page.others.slice(first, first + BATCH), found)
      after = page.end
    } while (after !== undefined)
  }

  /** Of tasks that are only counted, no more are read than are listed. */
  private async lookAtGroup(definition: Definition, group: WaitingCount, found: Waiting): Promise<void> {
    const { policyHash, rank } = group
    const isTaken = this.takes(definition, group)
    let after: TaskRecord | undefined
    for (let seen = 0; ; ) {
      if (!isTaken && found.skipped.length >= MAX_SKIPPED) {
        found.skippedCount += Math.max(0, group.tasks - seen)
        return
      }
      const from = { queue: definition.queue, policyHash, rank, ...(after && { after }) }
      const tasks = await this.ledger.waiting({ ...from, limit: BATCH })
      await this.lookAt(definition, tasks, found)
      after = tasks.at(-1)
      seen += tasks.length
      if (tasks.length < BATCH) return
    }
  }

  private async lookAt(definition: Definition, tasks: readonly TaskRecord[], found: Waiting): Promise<void> {
    found.migrated += await this.migrateAll(tasks.filter(lacksState))
    const sound: TaskRecord[] = []
    const counts = await this.ledger.attemptCounts(tasks)
    for (const [index, task] of tasks.entries()) {
      const faults = lacksState(task) ? [] : this.faultsOf(definition, task, counts[index] as AttemptCounts)
      if (faults.length === 0) sound.push(task)
      else if (await isStill(this.ledger, task)) found.refused.push({ ...keyOf(task), faults, task })
    }
    await this.adopt(definition, sound)
    for (const task of sound) {
      if (this.takes(definition, task)) found.waiting++
      else await this.skip(definition, task, found)
    }
  }

  private async skip(definition: Definition, task: TaskRecord, found: Waiting): Promise<void> {
    found.skippedCount++
    if (found.skipped.length >= MAX_SKIPPED) return
    found.skipped.push({ ...keyOf(task), changes: await this.changesOf(definition, task) })
  }

  private async migrateAll(tasks: readonly TaskRecord[]): Promise<number> {
    if (tasks.length === 0) return 0
    return this.ledger.transact({ tasks }, (view) => {
      const changes = tasks.flatMap((key) => {
        const task = view.task(key)
        return task?.status === 'waiting' && lacksState(task) ? migrate(task, seedOf(this.random), view.now) : []
      })
      return {
        tasks: changes.map(({ task }) => task),
        events: changes.flatMap(({ events }) => events ?? []),
        result: changes.length,
      }
    })
  }

  private faultsOf({ policy, record }: Definition, task: TaskRecord, counts: AttemptCounts): string[] {
    // How many attempts another policy allows is not for this one to say.
    const attempts = task.policyHash === record.hash ? policy.attempts : Infinity
    return [...faultsOfState(task, attempts), ...faultsOfHistory(task, counts)]
  }

  private takes(
    { record, policyChange = this.policyChange }: Definition,
    task: { readonly policyHash: string },
  ): boolean {
    return task.policyHash === record.hash || policyChange === 'accept'
  }

  /** Whoever asks for a task that this program will not run is told why. */
  async expectPolicy(definition: Definition, task: TaskRecord): Promise<void> {
    if (TERMINAL.has(task.status) || task.policyHash === definition.record.hash) return
    const faults = faultsOfShape(task.progress)
    if (faults.length > 0) throw TaskRefusedError.ofState(task, faults)
    if (this.takes(definition, task)) return this.adopt(definition, [task])
    const changes = await this.changesOf(definition, task)
    const fields = changes.map(({ field, from, to }) => `${field}: ${JSON.stringify(from)} → ${JSON.stringify(to)}`)
    const message = `Task ${task.scope}/${task.id} was begun with another policy (${fields.join(', ')})`
    throw new TaskRefusedError(
      'policy_changed',
      `${message}: open with policyChange 'accept' to take the new one`,
      changes,
    )
  }

  /** Takes the new policy where the program said so, and takes back what a clock that was set back added to a wait. */
  private async adopt(definition: Definition, tasks: readonly TaskRecord[]): Promise<void> {
    const { hash } = definition.record
    const now = await this.ledger.now()
    const stale = tasks.filter(
      (task) => this.takes(definition, task) && (task.policyHash !== hash || now < task.updatedAtMs),
    )
    if (stale.length === 0) return
    await this.ledger.keepPolicy(definition.record)
    await this.ledger.transact({ tasks: stale }, (view) => {
      const changes = stale.flatMap((key) => {
        const task = view.task(key)
        if (task?.status !== 'waiting' && task?.status !== 'undecided') return []
        const rested = sinceSetBack(task, view.now)
        if (task.policyHash !== hash) return acceptPolicy(rested, hash, view.now)
        return rested === task ? [] : { tasks: [rested], events: [] }
      })
      return {
        tasks: changes.flatMap(({ tasks: changed }) => changed ?? []),
        events: changes.flatMap(({ events }) => events ?? []),
        result: undefined,
      }
    })
  }

  private async changesOf({ record }: Definition, task: TaskRecord): Promise<ReturnType<typeof differences>> {
    const old: PolicyRecord | undefined = await this.ledger.policy(task.policyHash)
    return old === undefined ? [] : differences(old.policy, record.policy)
  }
}

/** Whether nobody has taken it up since it was read: then its history is of another state than the one at hand. */
export async function isStill(ledger: Ledger, task: TaskRecord): Promise<boolean> {
  const now = await ledger.get(task)
  return now?.fence === task.fence && now.owner === task.owner
}
