/**
 * Several changes in one transaction, one after the other: each sees what those before it have decided, and all are
 * written together. Imports the ledger's port.
 */
import type { Changes, View } from '../ledger/ledger.js'
import { type GateRecord, nameOf, type RunRecord, type TaskKey, type TaskRecord } from '../ledger/records.js'

/** The locked rows, as they are after the changes that were added. */
export class LayeredView implements View {
  readonly now: number
  private readonly view: View
  private readonly tasks = new Map<string, TaskRecord>()
  private readonly gates = new Map<string, GateRecord>()
  private readonly runs = new Map<string, RunRecord>()
  private readonly others: Changes[] = []

  constructor(view: View) {
    this.now = view.now
    this.view = view
  }

  task(key: TaskKey): TaskRecord | undefined {
    return this.tasks.get(nameOf(key)) ?? this.view.task(key)
  }

  gate(key: string): GateRecord | undefined {
    return this.gates.get(key) ?? this.view.gate(key)
  }

  run(id: string): RunRecord | undefined {
    return this.runs.get(id) ?? this.view.run(id)
  }

  add(changes: Changes): void {
    for (const task of changes.tasks ?? []) this.tasks.set(nameOf(task), task)
    for (const gate of changes.gates ?? []) this.gates.set(gate.key, gate)
    for (const { run } of changes.runs ?? []) this.runs.set(run.id, run)
    for (const { task } of changes.created ?? []) this.tasks.set(nameOf(task), task)
    this.others.push(changes)
  }

  /** All that was added, in order; of a row that several have changed, what the last one says. */
  changes(): Changes {
    const created = this.others.flatMap((one) => one.created ?? [])
    const isNew = new Set(created.map(({ task }) => nameOf(task)))
    return {
      ...together(this.others),
      runs: [...new Map(this.others.flatMap((one) => one.runs ?? []).map((one) => [one.run.id, one])).values()],
      gates: [...this.gates.values()],
      created,
      tasks: [...this.tasks.values()].filter((task) => !isNew.has(nameOf(task))),
    }
  }
}

/** What is only added, of several changes. */
function together(all: readonly Changes[]): Changes {
  return {
    attempts: all.flatMap((one) => one.attempts ?? []),
    dead: all.flatMap((one) => one.dead ?? []),
    closedLetters: all.flatMap((one) => one.closedLetters ?? []),
    inputs: all.flatMap((one) => one.inputs ?? []),
    checkpoints: all.flatMap((one) => one.checkpoints ?? []),
    events: all.flatMap((one) => one.events ?? []),
  }
}
