/**
 * The rows that a transaction named, for the function that decides. What it did not name it cannot see, so that no store
 * has to lock what was not said. Imports its own layer and the port.
 */
import type { Keys, View } from '../ledger/ledger.js'
import { type GateRecord, nameOf, type RunRecord, type TaskKey, type TaskRecord } from '../ledger/records.js'
import { gateOf, runOf, type SqlRow, type TaskRow } from '../ledger/rows.js'
import type { Statements } from './statements.js'

/** What a transaction named, as it is while nobody else can write. */
export class LockedRows implements View {
  readonly now: number
  private readonly sql: Statements
  /** The first of the tasks: most transactions name one, and need no map. */
  private first: { readonly key: TaskKey; row: TaskRow | undefined } | undefined = undefined
  private others: Map<string, TaskRow | undefined> | undefined = undefined
  private readonly gateKeys: readonly string[]
  private readonly runIds: readonly string[]

  constructor(sql: Statements, now: number, { gates = [], runs = [] }: Pick<Keys, 'gates' | 'runs'>) {
    this.sql = sql
    this.now = now
    this.gateKeys = gates
    this.runIds = runs
  }

  add(key: TaskKey, row: TaskRow | undefined): void {
    if (this.first === undefined) this.first = { key, row }
    else if (isSame(key, this.first.key)) this.first.row = row
    else {
      this.others ??= new Map()
      this.others.set(nameOf(key), row)
    }
  }

  task(key: TaskKey): TaskRecord | undefined {
    if (this.first !== undefined && isSame(key, this.first.key)) return this.first.row?.task
    const name = nameOf(key)
    if (this.others?.has(name) !== true) throw new Error(`Task ${key.scope}/${key.id} was not named in the transaction`)
    return this.others.get(name)?.task
  }

  gate(key: string): GateRecord | undefined {
    if (!this.gateKeys.includes(key)) throw new Error(`Gate ${key} was not named in the transaction`)
    const row = this.sql.gate.get(key) as SqlRow | undefined
    return row && gateOf(row)
  }

  run(id: string): RunRecord | undefined {
    if (!this.runIds.includes(id)) throw new Error(`Run ${id} was not named in the transaction`)
    const row = this.sql.run.get(id) as SqlRow | undefined
    return row && runOf(row)
  }

  expectAbsent(key: TaskKey): void {
    if (this.task(key) !== undefined) throw new Error(`Task ${key.scope}/${key.id} exists`)
  }

  rowOf(key: TaskKey): TaskRow {
    const isFirst = this.first !== undefined && isSame(key, this.first.key)
    const row = isFirst ? this.first?.row : this.others?.get(nameOf(key))
    if (row === undefined) throw new Error(`Task ${key.scope}/${key.id} does not exist`)
    return row
  }
}

function isSame(one: TaskKey, other: TaskKey): boolean {
  return one === other || (one.id === other.id && one.scope === other.scope && one.scopeKind === other.scopeKind)
}
