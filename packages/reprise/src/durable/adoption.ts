/**
 * Tasks that wait, as another program or another time left them: whose policy is not this program's, and whose wait a
 * clock that was set back would lengthen. Imports the ledger's port and its own layer.
 */
import type { Ledger } from '../ledger/ledger.js'
import type { PolicyRecord, TaskKey, TaskRecord } from '../ledger/records.js'
import type { Definition } from './definition.js'
import { TaskRefusedError } from './errors.js'
import { differences } from './policy-record.js'
import { acceptPolicy, sinceSetBack } from './transitions.js'
import { isOver } from './waiters.js'

export interface SkippedTask extends TaskKey {
  readonly changes: ReturnType<typeof differences>
}

export class Adoption {
  private readonly ledger: Ledger
  private readonly policyChange: 'refuse' | 'accept'

  constructor(ledger: Ledger, policyChange: 'refuse' | 'accept') {
    this.ledger = ledger
    this.policyChange = policyChange
  }

  /** Looks at everything that waits, and adopts what it may. */
  async lookAtWaiting(definition: Definition): Promise<{ waiting: number; skipped: SkippedTask[] }> {
    const found = { waiting: 0, skipped: [] as SkippedTask[] }
    let after: TaskRecord | undefined
    for (;;) {
      const filter = { queue: definition.name, statuses: ['waiting'] as const, limit: 1000, ...(after && { after }) }
      const tasks = await this.ledger.list(filter)
      await this.adopt(definition, tasks)
      for (const task of tasks) {
        if (this.takes(definition, task)) found.waiting++
        else found.skipped.push({ run: task.run, id: task.id, changes: await this.changesOf(definition, task) })
      }
      after = tasks.at(-1)
      if (tasks.length < 1000) return found
    }
  }

  private takes({ record }: Definition, task: TaskRecord): boolean {
    return task.policyHash === record.hash || this.policyChange === 'accept'
  }

  /** Whoever asks for a task that this program will not run is told why. */
  async expectPolicy(definition: Definition, task: TaskRecord): Promise<void> {
    if (isOver(task) || task.policyHash === definition.record.hash) return
    if (this.takes(definition, task)) return this.adopt(definition, [task])
    const changes = await this.changesOf(definition, task)
    const fields = changes.map(({ field, from, to }) => `${field}: ${JSON.stringify(from)} → ${JSON.stringify(to)}`)
    const message = `Task ${task.run}/${task.id} was begun with another policy (${fields.join(', ')})`
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
        if (task?.status !== 'waiting') return []
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
