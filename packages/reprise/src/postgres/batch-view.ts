/** What one decision of a batch sees, and how it is taken into the batch. Imports its own layer and the port. */
import type { Decided, Keys, NewTask, View } from '../ledger/ledger.js'
import { type GateRecord, nameOf, type RunRecord, type TaskKey, type TaskRecord } from '../ledger/records.js'
import type { Batch } from './batch.js'

export type { Batch, BatchRow } from './batch.js'

/** What one decision may see: what it named. */
class BatchView implements View {
  readonly now: number
  private readonly batch: Batch
  private readonly keys: Keys
  private names: Set<string> | undefined = undefined

  constructor(batch: Batch, keys: Keys) {
    this.batch = batch
    this.keys = keys
    this.now = batch.now
  }

  task(key: TaskKey): TaskRecord | undefined {
    if (!this.isNamed(key)) throw new Error(`Task ${key.scope}/${key.id} was not named in the transaction`)
    return this.batch.row(key)?.task
  }

  private isNamed(key: TaskKey): boolean {
    const { tasks } = this.keys
    // Most transactions are of one task.
    if (tasks.length === 1) {
      const { scopeKind, scope, id } = tasks[0] as TaskKey
      return id === key.id && scope === key.scope && scopeKind === key.scopeKind
    }
    this.names ??= new Set(tasks.map(nameOf))
    return this.names.has(nameOf(key))
  }

  gate(key: string): GateRecord | undefined {
    if (!this.keys.gates?.includes(key)) throw new Error(`Gate ${key} was not named in the transaction`)
    return this.batch.gate(key)
  }

  run(id: string): RunRecord | undefined {
    if (!this.keys.runs?.includes(id)) throw new Error(`Run ${id} was not named in the transaction`)
    return this.batch.run(id)
  }
}

/** Decides in the batch, or throws and leaves it as it was. */
export function decideIn<T>(
  batch: Batch,
  keys: Keys,
  decide: (view: View) => Decided<T>,
  pkOf: () => number,
): { readonly result: T; readonly created: readonly NewTask[] } {
  const { result, ...changes } = decide(new BatchView(batch, keys))
  batch.take(changes, pkOf)
  return { result, created: changes.created ?? [] }
}
