/**
 * What must be true of a repository after the items of a map were merged into it by several processes: no work is lost, and
 * no item is merged twice. Imports the repository and the ledger's types.
 */
import type { AttemptRow, DeadLetter, TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import type { GitScene } from './git-scene.js'

export interface MergeHistory {
  readonly repository: GitScene
  /** The commit before the map. */
  readonly base: string
  readonly tasks: readonly TaskRecord[]
  readonly rows: readonly AttemptRow[]
  readonly letters: readonly DeadLetter[]
  /** Files that executions have written, each of one execution. */
  readonly proofs: readonly string[]
  /** The file that only this item changes. */
  readonly fileOf: (task: TaskRecord) => string
}

/** `Reprise-Attempt` of a merge: position, generation, attempt, execution. */
const MERGED_WITH = /^\d+-(\d+)\.(\d+)\.(\d+)(?:-\d+)?$/
/** See `MergeConflictError`. */
const CONFLICT = /^merge conflict in .*: the work is kept on branch (\S+)$/

export function mergeFaults(history: MergeHistory): string[] {
  return [
    ...markFaults(history),
    ...commitFaults(history),
    ...lossFaults(history),
    ...branchFaults(history),
    ...letterFaults(history),
  ]
}

/** Dead letters of work that was refused. */
export function conflictsOf(letters: readonly DeadLetter[]): string[] {
  return letters.flatMap(({ failure }) => CONFLICT.exec(failure?.message ?? '')?.[1] ?? [])
}

/** Of each merge of an item: the item, and the attempt that its trailer names. */
function mergesOf({ repository, base }: Pick<MergeHistory, 'repository' | 'base'>): [item: string, attempt: string][] {
  const [item, attempt] = ['Item', 'Attempt'].map((key) => `%(trailers:key=Reprise-${key},valueonly,separator=)`)
  const text = repository.git('log', '--merges', `--format=${item} ${attempt}`, `${base}..HEAD`)
  // A merge of what a person committed names no item.
  return text.split('\n').flatMap((line) => (/^\S+ \S+$/.test(line) ? [line.split(' ') as [string, string]] : []))
}

/** `1.2`: the attempt and execution of a merge; its generation is not looked at. */
export function mergedExecutions(history: Pick<MergeHistory, 'repository' | 'base'>): ReadonlyMap<string, string> {
  return new Map(mergesOf(history).map(([item, name]) => [item, MERGED_WITH.exec(name)?.slice(2, 4).join('.') ?? '']))
}

/** Merged are the items that succeeded, each once, with an execution that the ledger knows. */
function markFaults({ repository, base, tasks, rows }: MergeHistory): string[] {
  const faults: string[] = []
  const merged = new Map<string, string>()
  for (const [item, attempt] of mergesOf({ repository, base })) {
    if (merged.has(item)) faults.push(`${item} was merged with ${merged.get(item)} and with ${attempt}`)
    merged.set(item, attempt)
  }
  for (const { id, status } of tasks) {
    if (merged.has(id) !== (status === 'succeeded'))
      faults.push(`${id} is ${status}, and ${merged.has(id) ? 'was' : 'was not'} merged`)
    const name = MERGED_WITH.exec(merged.get(id) ?? '')
      ?.slice(1, 4)
      .join('.')
    const isKnown = rows.some((row) => row.id === id && [row.generation, row.attempt, row.execution].join('.') === name)
    if (merged.has(id) && !isKnown)
      faults.push(`${id} was merged with ${merged.get(id)}, which the ledger does not know`)
  }
  return faults
}

/** Whatever the merges say: the work of an item is in one commit of the branch, and in none if the item failed. */
function commitFaults({ repository, base, tasks, fileOf }: MergeHistory): string[] {
  const counts = new Map<string, number>()
  const changed = repository.git('log', '--no-merges', '--format=', '--name-only', `${base}..HEAD`)
  for (const file of changed.split('\n')) counts.set(file, (counts.get(file) ?? 0) + 1)
  return tasks.flatMap((task) => {
    const [commits, expected] = [counts.get(fileOf(task)) ?? 0, task.status === 'succeeded' ? 1 : 0]
    return commits === expected ? [] : [`${task.id} is ${task.status}, and its work is in ${commits} commits`]
  })
}

/** Whatever an execution has done is in a commit, merged or not. */
function lossFaults({ repository, proofs }: MergeHistory): string[] {
  const committed = repository.everCommitted()
  return proofs.filter((proof) => !committed.has(proof)).map((proof) => `${proof} is in no commit`)
}

/** A branch is kept for work that is nowhere else; nothing else is left. */
function branchFaults({ repository }: MergeHistory): string[] {
  const kept = repository.branches().filter((branch) => !branch.endsWith('/merged'))
  const faults = kept
    .filter((branch) => repository.git('rev-list', '--max-count=1', branch, '--not', 'HEAD') === '')
    .map((branch) => `branch ${branch} is kept, and has nothing of its own`)
  if (repository.trees() > 0) faults.push(`${repository.trees()} working trees are left`)
  const changed = repository.git('status', '--porcelain', '--untracked-files=no')
  if (changed !== '') faults.push(`the directory of the run was left with changes: ${changed}`)
  return faults
}

/** The dead letter of work that conflicts names the branch that has it. */
function letterFaults({ repository, tasks, letters, fileOf }: MergeHistory): string[] {
  const branches = new Set(repository.branches())
  return letters.flatMap(({ id, failure }) => {
    const message = failure?.message ?? ''
    if (!message.startsWith('merge conflict')) return []
    const branch = CONFLICT.exec(message)?.[1] ?? ''
    if (!branches.has(branch)) return [`${id} failed with "${message}", and there is no such branch`]
    const task = tasks.find((one) => one.id === id)
    const files = repository.git('ls-tree', '-r', '--name-only', branch).split('\n')
    return task !== undefined && files.includes(fileOf(task)) ? [] : [`${branch} does not have the work of ${id}`]
  })
}
