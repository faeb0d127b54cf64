/**
 * Changes of a recorded task that somebody asks for: cancel it, start it early, reset it, decide what became of it.
 * Imports core's types, the ledger's port and its own layer.
 */
import type { Random } from '../core/time.js'
import type { Ledger } from '../ledger/ledger.js'
import { type Json, keyIn, type TaskKey, type TaskRecord, TERMINAL } from '../ledger/records.js'
import type { Adoption } from './adoption.js'
import type { Definition } from './definition.js'
import { TaskRefusedError } from './errors.js'
import { expectJson } from './json.js'
import { answerTo, type LetterRef, type RedriveAnswer, redriven, type RedriveOptions } from './redrive.js'
import { cancel, reset, resolve, retryNow, seedOf, type Settled } from './transitions.js'
import { isOver, type Waiters } from './waiters.js'
import type { Worker } from './worker.js'

export interface TaskChangesPorts {
  readonly ledger: Ledger
  readonly worker: Pick<Worker, 'writer' | 'events' | 'abandon' | 'wakeAll'>
  readonly adoption: Adoption
  readonly waiters: Waiters
  readonly random: Random
  /** Throws if nothing may be asked any more. */
  readonly expectOpen: () => void
}

/** A task before and after its change. */
interface Changed {
  readonly before: TaskRecord
  readonly task: TaskRecord
}

export class TaskChanges {
  private readonly ports: TaskChangesPorts

  constructor(ports: TaskChangesPorts) {
    this.ports = ports
  }

  /** A task that is over stays as it is. */
  async cancel(definition: Definition, id: string): Promise<void> {
    const ended = (task: TaskRecord, now: number): Settled | undefined =>
      TERMINAL.has(task.status) ? undefined : cancel(task, now)
    await this.change(definition, id, ended, true)
  }

  async retryNow(definition: Definition, id: string): Promise<void> {
    await this.expectPolicy(definition, keyIn(definition, id))
    await this.change(definition, id, startEarly)
  }

  async reset(definition: Definition, id: string): Promise<void> {
    this.ports.expectOpen()
    await this.ports.ledger.keepPolicy(definition.record)
    await this.change(definition, id, (task, now) => this.resetTask(definition, task, now), true)
  }

  /** The same for a task that has ended in any way: what it gave is forgotten. */
  async again(definition: Definition, id: string): Promise<void> {
    this.ports.expectOpen()
    await this.ports.ledger.keepPolicy(definition.record)
    const seed = seedOf(this.ports.random)
    await this.change(definition, id, (task, now) =>
      TERMINAL.has(task.status) ? reset(task, definition.record.hash, seed, now) : undefined,
    )
  }

  /** The same for a task whose letter of this generation is open, or what was decided about it; see `redrive.ts`. */
  async redrive(definition: Definition, letter: LetterRef, options: RedriveOptions): Promise<RedriveAnswer> {
    const { ledger, worker, random } = this.ports
    const { record, queue } = definition
    await ledger.keepPolicy(record)
    let answer: RedriveAnswer = 'redriven'
    const seed = seedOf(random)
    const changed = await worker.writer.write<Changed>({
      definition,
      key: letter,
      decide: ({ task, now }) => {
        answer = answerTo(task, letter, options)
        if (answer !== 'redriven') return undefined
        const changes = redriven(task, options, { policyHash: record.hash, queue, seed }, now)
        return { changes, result: { before: task, task: changes.task } }
      },
    })
    if (changed !== undefined) this.tell(definition, changed)
    return answer
  }

  async decide(definition: Definition, id: string, answer: 'done' | 'rerun', result: unknown): Promise<void> {
    if (answer !== 'done' && answer !== 'rerun')
      throw new TypeError(`The answer must be 'done' or 'rerun', not ${JSON.stringify(answer)}`)
    const kept = result === undefined ? null : expectJson(result, 'result')
    await this.expectPolicy(definition, keyIn(definition, id))
    await this.change(definition, id, (task, now) => decideTask(task, answer, kept, now))
  }

  /** A task that this program would not execute is not started early by it either. */
  private async expectPolicy(definition: Definition, key: TaskKey): Promise<void> {
    const { ledger, adoption, expectOpen } = this.ports
    expectOpen()
    const task = await ledger.get(key)
    if (task !== undefined && !TERMINAL.has(task.status)) await adoption.expectPolicy(definition, task)
  }

  private async change(
    definition: Definition,
    id: string,
    how: (task: TaskRecord, now: number) => Settled | undefined,
    mends = false,
  ): Promise<void> {
    const { worker, expectOpen } = this.ports
    expectOpen()
    const changed = await worker.writer.write<Changed>({
      definition,
      key: keyIn(definition, id),
      mends,
      decide: ({ task, now }) => {
        const changes = how(task, now)
        return changes && { changes, result: { before: task, task: changes.task } }
      },
    })
    if (changed === undefined) return
    if (changed.task.status === 'cancelled') worker.abandon(changed.task)
    worker.wakeAll()
    this.tell(definition, changed)
  }

  /** Observers and callers that wait hear of the change. */
  private tell(definition: Definition, { before, task }: Changed): void {
    const { worker, waiters } = this.ports
    if (task.generation > before.generation) worker.events.reset(definition, task)
    if (!isOver(task)) return
    worker.events.followed(definition, task)
    waiters.settled(task)
  }

  private resetTask({ record }: Definition, task: TaskRecord, now: number): Settled {
    if (task.status === 'failed' || task.status === 'cancelled' || task.status === 'undecided') {
      return reset(task, record.hash, seedOf(this.ports.random), now)
    }
    throw new TaskRefusedError('finished', `Task ${task.scope}/${task.id} is ${task.status}: there is nothing to reset`)
  }
}

function startEarly(task: TaskRecord, now: number): Settled {
  if (task.status === 'waiting') return retryNow(task, now)
  throw new TaskRefusedError('not_waiting', `Task ${task.scope}/${task.id} is not waiting: its state is ${task.status}`)
}

function decideTask(task: TaskRecord, answer: 'done' | 'rerun', result: Json, now: number): Settled {
  if (task.status === 'undecided') return resolve(task, answer, result, now)
  throw new TaskRefusedError('finished', `Task ${task.scope}/${task.id} is ${task.status}: there is nothing to decide`)
}
