/**
 * A map by the keys of tasks. No text is made of a key: to put one together and hash it takes longer than to look it up.
 * Imports the records.
 */
import type { ScopeKind, TaskKey } from './records.js'

export class TaskMap<V> {
  private readonly scopes: Readonly<Record<ScopeKind, Map<string, Map<string, V>>>> = {
    task: new Map(),
    run: new Map(),
  }
  private count = 0

  get size(): number {
    return this.count
  }

  has({ scopeKind, scope, id }: TaskKey): boolean {
    return this.scopes[scopeKind].get(scope)?.has(id) === true
  }

  get({ scopeKind, scope, id }: TaskKey): V | undefined {
    return this.scopes[scopeKind].get(scope)?.get(id)
  }

  set({ scopeKind, scope, id }: TaskKey, value: V): void {
    const scopes = this.scopes[scopeKind]
    let tasks = scopes.get(scope)
    if (tasks === undefined) scopes.set(scope, (tasks = new Map()))
    this.count -= tasks.size
    tasks.set(id, value)
    this.count += tasks.size
  }

  delete({ scopeKind, scope, id }: TaskKey): void {
    const scopes = this.scopes[scopeKind]
    const tasks = scopes.get(scope)
    if (tasks?.delete(id) !== true) return
    this.count--
    // Names of tasks are few, and come again; runs do not.
    if (tasks.size === 0 && scopeKind === 'run') scopes.delete(scope)
  }

  clear(): void {
    for (const scopes of Object.values(this.scopes)) scopes.clear()
    this.count = 0
  }

  *values(): IterableIterator<V> {
    for (const scopes of Object.values(this.scopes)) for (const tasks of scopes.values()) yield* tasks.values()
  }
}
