/**
 * Working trees for the items of a map: an attempt has a tree of its own at a new branch, and merging what it did is its
 * last act, before its outcome is written. Imports Node, the library's types, errors and its own layer.
 *
 * Invariants: nothing of retries is kept in a tree, so that a tree may be lost at any time. What an attempt did is merged,
 * or stays on its branch. The work of an item is merged once.
 */
import { createHash, randomBytes } from 'node:crypto'
import path from 'node:path'
import type { Json } from 'reprise/durable'
import { type Done, MergedBeforeError, type Workplace, type Workplaces, type WorkRequest } from './workplaces.js'
import { SetupError } from '../values/setup-error.js'
import { askGit, git, GitError } from './git.js'
import { MergeBranch } from './merge-branch.js'
import { Outcomes } from './outcomes.js'
import { TREES } from './left-trees.js'
import { findRepository, type Repository } from './repository.js'
import { RepositoryLock } from './repository-lock.js'
import { identityIn, Tree, withinTrees } from './tree.js'
import { TreePool } from './tree-pool.js'

export interface WorktreesInput {
  /** The directory that the run works in. */
  readonly cwd: string
  /** Where the files of the map are. */
  readonly directory: string
  /** The id of the run that the map is a part of. */
  readonly run: string
  readonly map: string
  /** Of the map's own run: one that is begun again has other branches. */
  readonly correlationId: string
  /** The commit that the map began with. */
  readonly base: string
  /** Items or batches at a time. */
  readonly most: number
  /** Another process conducts the map, and has made its branch. */
  readonly isGuest: boolean
}

/** Opens what the map has, and ends what killed processes left of it. */
export async function openWorktrees(input: WorktreesInput): Promise<Workplaces> {
  return orSetupError(async () => {
    const repository = await findRepository(input.cwd)
    if (repository === undefined)
      throw new SetupError(
        'no_repository',
        `${input.cwd} is in no git repository any more: put it back, and resume the run`,
      )
    const worktrees = new Worktrees(input, repository)
    await worktrees.begin()
    return worktrees
  })
}

/** What git refuses is a failure of the map, which a person can mend. */
async function orSetupError<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    throw new SetupError('git_failed', `${error.message}. Mend it, and resume the run`, { cause: error })
  }
}

class Worktrees implements Workplaces {
  readonly needsMerge = true
  private readonly input: WorktreesInput
  private readonly repository: Repository
  private readonly branch: MergeBranch
  private readonly outcomes: Outcomes
  private readonly pool: TreePool
  private readonly lock: RepositoryLock
  private readonly identity: ReturnType<typeof identityIn>
  private readonly uses = new Set<Promise<unknown>>()
  private side: Promise<Tree> | undefined = undefined

  constructor(input: WorktreesInput, repository: Repository) {
    this.input = input
    this.repository = repository
    const { base, most } = input
    const { top, common } = repository
    const directory = path.join(input.directory, TREES)
    this.identity = identityIn(top)
    this.lock = new RepositoryLock(common)
    this.outcomes = new Outcomes(path.join(directory, 'outcomes'))
    const { lock, identity, outcomes } = this
    this.pool = new TreePool({ repository: top, directory, commit: base, lock, most, identity })
    const ref = `refs/heads/${this.nameOf('merged')}`
    const aside = (): Promise<Tree> => this.aside(directory)
    this.branch = new MergeBranch({ repository, ref, base, lock, outcomes, identity, aside })
  }

  async begin(): Promise<void> {
    const lost = (): Tree[] => Tree.lostIn(path.join(this.input.directory, TREES), this.identity)
    if (this.input.isGuest) await this.branch.expect()
    else await this.branch.begin()
    // Under the lock once more: a process that adds a tree holds it, and its mark is not whole before.
    if (lost().length > 0) await this.lock.hold(() => this.endLost(lost()))
  }

  async finished({ items, attempt }: WorkRequest): Promise<ReadonlyMap<string, Json>> {
    // A first execution has no earlier one that could have merged.
    const isFirst = attempt.generation === 1 && attempt.attempt === 1 && attempt.execution === 1
    return isFirst ? new Map() : this.outcomesOf({ items })
  }

  private async outcomesOf({ items }: Pick<WorkRequest, 'items'>): Promise<ReadonlyMap<string, Json>> {
    const merged = await this.branch.findMerged(items.map(({ id }) => id))
    const read = ([id, by]: [string, string]): [string, Json] => {
      const outcome = this.outcomes.read(by) as Readonly<Record<string, Json>> | null
      return [id, outcome?.[id] ?? null]
    }
    return new Map([...merged].map(read))
  }

  use<T>(request: WorkRequest, act: (place: Workplace) => Promise<Done<T>>): Promise<T> {
    const used = this.work(request, act)
    const ended = used.then(
      () => undefined,
      () => undefined,
    )
    this.uses.add(ended)
    void ended.then(() => this.uses.delete(ended))
    return used
  }

  private async work<T>(request: WorkRequest, act: (place: Workplace) => Promise<Done<T>>): Promise<T> {
    const { signal } = request
    const tree = await this.pool.take(signal)
    try {
      const start = await this.branch.tip()
      const branch = await this.beginIn(tree, leafOf(request), start)
      let done: Done<T>
      try {
        signal.throwIfAborted()
        done = await act({
          cwd: path.join(tree.path, this.repository.prefix),
          variables: {
            REPRISE_BRANCH: branch,
            REPRISE_RUN_DIRECTORY: this.input.cwd,
            ...withinTrees(path.dirname(tree.path)),
          },
        })
      } catch (error) {
        await this.keep(tree, branch, start, `Unfinished: ${titleOf(request)}`)
        throw error
      }
      return await this.merged(request, tree, { branch, start }, done)
    } finally {
      this.pool.give(tree)
    }
  }

  private async merged<T>(
    request: WorkRequest,
    tree: Tree,
    { branch, start }: { branch: string; start: string },
    done: Done<T>,
  ): Promise<T> {
    const message = titleOf(request)
    const tip = await tree.commitAll(message)
    if (tip !== start) {
      const attempt = branch.slice(branch.lastIndexOf('/') + 1)
      const { items, outcome } = done
      const { signal } = request
      const work = { branch, start, tip, message, items, attempt, outcome, signal }
      // What was merged by an earlier execution counts; this work is left on its branch.
      if (!(await this.branch.merge(work))) throw new MergedBeforeError(await this.outcomesOf(request))
    }
    await this.leave(tree, branch)
    return done.value
  }

  /** Everything is merged: what the run works on gets it. */
  async land(isComplete: boolean): Promise<void> {
    await this.settled()
    await orSetupError(() => this.branch.land(isComplete))
    this.outcomes.forget()
  }

  async close(): Promise<void> {
    await this.settled()
    const side = await this.side
    await this.pool.removeAll()
    if (side !== undefined) await this.lock.hold(() => side.remove(this.repository.top))
    this.side = undefined
  }

  private async settled(): Promise<void> {
    while (this.uses.size > 0) await Promise.all(this.uses)
  }

  // ── branches ───────────────────────────────────────────────────────────────────────────────────

  /** `reprise/RUN-ab12cd34/MAP/LEAF`. */
  private nameOf(leaf: string): string {
    const { run, map, correlationId } = this.input
    return `reprise/${refPart(run)}-${correlationId.replaceAll('-', '').slice(0, 8)}/${refPart(map)}/${leaf}`
  }

  /** Each execution has a branch of its own; one that is there already is somebody's work. */
  private async beginIn(tree: Tree, leaf: string, start: string): Promise<string> {
    for (let number = 1; ; number++) {
      const branch = this.nameOf(number === 1 ? leaf : `${leaf}-${number}`)
      const args = ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`]
      const isThere = (await askGit(this.repository.top, args, { answers: [1, 128] })).code === 0
      if (isThere) continue
      await tree.begin(branch, start)
      return branch
    }
  }

  /** What was done becomes a commit of the branch; a branch without work is removed. */
  private async keep(tree: Tree, branch: string, start: string, message: string): Promise<void> {
    const tip = await tree.commitAll(message)
    if (tip === start) await this.leave(tree, branch)
  }

  /** The branch has nothing that is not elsewhere. */
  private async leave(tree: Tree, branch: string): Promise<void> {
    await tree.git('checkout', '--quiet', '--detach')
    await git(this.repository.top, 'update-ref', '-d', `refs/heads/${branch}`)
  }

  private aside(directory: string): Promise<Tree> {
    const { base } = this.input
    const name = path.join(directory, `merge-${randomBytes(4).toString('hex')}`)
    // Under the lock already. One that could not be added is tried again.
    this.side ??= Tree.add(this.repository.top, name, base, this.identity).catch((error: unknown) => {
      this.side = undefined
      throw error
    })
    return this.side
  }

  /** What is left in them becomes commits; branches stay if they have any that the map does not have. */
  private async endLost(lost: readonly Tree[]): Promise<void> {
    const { top } = this.repository
    for (const tree of lost) {
      const branch = tree.isThere ? await tree.rescue() : undefined
      await tree.remove(top)
      if (branch !== undefined) await removeMergedBranch(top, branch, await this.branch.tip())
    }
  }
}

/** Removes a branch all of whose commits another one has. */
async function removeMergedBranch(repository: string, branch: string, into: string): Promise<void> {
  const args = ['merge-base', '--is-ancestor', `refs/heads/${branch}`, into]
  const { code } = await askGit(repository, args, { answers: [1, 128] })
  if (code === 0) await git(repository, 'update-ref', '-d', `refs/heads/${branch}`)
}

/** The position of its first item, and which execution it is: `0000017-1.2.1`. */
function leafOf({ items, attempt }: WorkRequest): string {
  const [position = ''] = attempt.taskId.split('.')
  const more = items.length > 1 ? `+${items.length - 1}` : ''
  return `${position}${more}-${attempt.generation}.${attempt.attempt}.${attempt.execution}`
}

function titleOf({ items }: WorkRequest): string {
  const [first] = items
  return items.length === 1 ? (first?.key ?? '') : `${first?.key ?? ''} and ${items.length - 1} more`
}

/** Fit for a part of a branch's name: ids may hold what git refuses there. */
function refPart(id: string): string {
  if (!/\.\.|\.$|\.lock$/.test(id)) return id
  const hash = createHash('sha256').update(id).digest('hex').slice(0, 6)
  return `${id.replaceAll(/\.+/g, '_')}-${hash}`
}
