/**
 * Everything that a command has started and that still runs: its group, its session, its descendants, and whatever has
 * its marks, wherever it hides.
 *
 * Invariants: this process and those above it never belong to a tree. What was once seen in a tree belongs to it until
 * it ends, although its parent is gone; it is known by pid and start. Not found is a process that has left group and
 * session, has got rid of its marks, and has lost its parent before anybody looked. Without `/proc` there are no marks.
 * Imports the process table.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { listProcesses, ownLine, type ProcessRow, SLICE } from './process-table.js'

export interface TreeRoots {
  /** Groups, with the starts of their leaders; null: not known. A number that has another start is somebody else's. */
  readonly groups: ReadonlyMap<number, string | null>
  /** Whether a process has a mark; null: marks say nothing here. */
  readonly isMarked: ((pid: number) => boolean) | null
  /** Nobody who started earlier can be marked; saves reading. */
  readonly since: string | null
  /** What this process has itself started does not belong to it. */
  readonly sparesOwn?: boolean
}

export class ProcessTree {
  private readonly roots: TreeRoots
  private seen = new Map<number, string>()

  constructor(roots: TreeRoots) {
    this.roots = roots
  }

  /** Who lives of it, now. */
  async find(): Promise<ProcessRow[]> {
    const rows = await listProcesses()
    const roots = await this.findRoots(rows)
    const members = membersOf(rows, ({ pid }) => roots.has(pid))
    const spared = ownLine(rows)
    if (this.roots.sparesOwn === true) {
      for (const pid of membersOf(rows, (row) => row.pid === process.pid)) spared.add(pid)
    }
    const found = rows.filter((row) => members.has(row.pid) && !spared.has(row.pid))
    this.seen = new Map(found.map((row) => [row.pid, row.start]))
    return found
  }

  private async findRoots(rows: readonly ProcessRow[]): Promise<Set<number>> {
    const groups = this.ownGroups(rows)
    const roots = new Set<number>()
    for (const [index, row] of rows.entries()) {
      if (index % SLICE === SLICE - 1) await nextTurn()
      if (this.isRoot(row, groups)) roots.add(row.pid)
    }
    return roots
  }

  /** A number is not given again while the group has a member, so only a new leader can make it somebody else's. */
  private ownGroups(rows: readonly ProcessRow[]): Set<number> {
    const groups = new Set(this.roots.groups.keys())
    for (const { pid, start } of rows) {
      const known = this.roots.groups.get(pid) ?? start
      if (known !== start) groups.delete(pid)
    }
    return groups
  }

  private isRoot(row: ProcessRow, groups: ReadonlySet<number>): boolean {
    const { isMarked, since } = this.roots
    if (groups.has(row.group) || groups.has(row.session) || this.seen.get(row.pid) === row.start) return true
    if (isMarked === null || (since !== null && Number(row.start) < Number(since))) return false
    return isMarked(row.pid)
  }
}

/** The roots and all below them. */
export function membersOf(rows: readonly ProcessRow[], isRoot: (row: ProcessRow) => boolean): Set<number> {
  const children = new Map<number, number[]>()
  for (const { pid, parent } of rows) {
    const siblings = children.get(parent)
    if (siblings === undefined) children.set(parent, [pid])
    else siblings.push(pid)
  }
  const members = new Set<number>()
  const waiting = rows.filter(isRoot).map((row) => row.pid)
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    if (members.has(pid)) continue
    members.add(pid)
    waiting.push(...(children.get(pid) ?? []))
  }
  return members
}
