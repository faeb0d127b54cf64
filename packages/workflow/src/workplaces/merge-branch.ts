/**
 * The branch that a map merges its items into. Imports Node and git.
 *
 * Invariants: the branch moves by one comparison with what it was, after the merge was made aside: a kill leaves it as it
 * was or with the whole merge. Nobody has it checked out, so no working tree is half old. An item is merged once: that is
 * looked up under the lock, in the branch itself.
 */
import type { Json } from 'reprise/durable'
import { SetupError } from '../values/setup-error.js'
import { askGit, git, GitError } from './git.js'
import { MergedItems, markedMessage, type MergeMark } from './merged-items.js'
import type { Outcomes } from './outcomes.js'
import { changedFiles, headOf, type Repository } from './repository.js'
import type { RepositoryLock } from './repository-lock.js'
import type { Tree } from './tree.js'
import { MergeConflictError, MOST_NAMED } from './workplaces.js'

export interface MergeBranchParts {
  readonly repository: Repository
  /** Its whole name: `refs/heads/…`. */
  readonly ref: string
  /** The commit that the map began with. */
  readonly base: string
  readonly lock: RepositoryLock
  readonly outcomes: Outcomes
  /** Where merges are made that are more than the next commit; this process's own. */
  readonly aside: () => Promise<Tree>
  readonly identity: () => Promise<Readonly<Record<string, string>>>
}

/** What is to be merged. */
export interface Work extends MergeMark {
  /** The branch with the work. */
  readonly branch: string
  /** The commit that the work began with. */
  readonly start: string
  /** Of its last commit. */
  readonly tip: string
  readonly message: string
  /** What the items gave: kept before the merge, so that who finds the merge finds it too. */
  readonly outcome: Json
  /** Aborted: the attempt has ended without this work, which must not be merged any more. */
  readonly signal: AbortSignal
}

const NONE = '0'.repeat(40)
/** `refs/heads/` is left out where a branch is shown. */
const HEADS = 'refs/heads/'

export class MergeBranch {
  private readonly parts: MergeBranchParts
  private readonly merged: MergedItems

  constructor(parts: MergeBranchParts) {
    this.parts = parts
    this.merged = new MergedItems(parts.repository.top, parts.base)
  }

  /** Makes the branch if it is not there; else brings it up to what was committed since, where that is possible. */
  async begin(): Promise<void> {
    const { repository, ref, base } = this.parts
    if ((await this.find()) !== undefined) return this.parts.lock.hold(() => this.catchUp())
    // Another process may make it at the same time.
    await git(repository.top, 'update-ref', ref, base, NONE).catch(async (error: unknown) => {
      if ((await this.find()) === undefined) throw error
    })
  }

  /** That another process has made it, in this repository. */
  async expect(): Promise<void> {
    if ((await this.find()) !== undefined) return
    const { ref, repository } = this.parts
    const cure = 'Work in the repository of the run, or in a working tree of it'
    throw new SetupError(
      'missing_branch',
      `${repository.top} has no branch ${ref.slice(HEADS.length)} of the map. ${cure}`,
    )
  }

  /** Items that run now see what a person has committed, such as what mends them. */
  private async catchUp(): Promise<void> {
    const head = await headOf(this.parts.repository)
    const tip = await this.tip()
    if (await this.isWithin(head, tip)) return
    const name = this.parts.ref.slice(HEADS.length)
    const commit = (await this.isWithin(tip, head))
      ? head
      : await this.mergedAside(tip, head, `Merge what was committed beside ${name}`)
    // What conflicts is left for the end, when a person is asked.
    if (typeof commit === 'string') await this.moved(tip, commit)
  }

  async tip(): Promise<string> {
    const tip = await this.find()
    if (tip !== undefined) return tip
    const name = this.parts.ref.slice(HEADS.length)
    throw new SetupError('missing_branch', `the branch ${name} of the map is gone: make it again at its last commit`)
  }

  /** Of these items, those that were merged, with the attempt that each was merged with. */
  async findMerged(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const all = await this.merged.readTo(await this.tip())
    return new Map(ids.flatMap((id) => (all.has(id) ? [[id, all.get(id) ?? '']] : [])))
  }

  /** False if one of the items was merged before, by an execution that could not record it: then nothing is merged. */
  merge(work: Work): Promise<boolean> {
    return this.parts.lock.hold(async () => {
      for (;;) {
        const tip = await this.tip()
        const known = await this.merged.readTo(tip)
        if (work.items.some((id) => known.has(id))) return false
        const commit = await this.made(work, tip)
        if (commit === undefined) return true
        this.parts.outcomes.keep(work.attempt, work.outcome)
        // From here on it counts, whatever becomes of the attempt.
        work.signal.throwIfAborted()
        if (await this.moved(tip, commit)) return true
      }
    })
  }

  /**
   * Brings what was merged to the branch that the run works on, when all items have ended. Throws a `SetupError` where that
   * needs a person; called again afterwards, it goes on. `isComplete`: nothing will be merged any more, so that the branch is
   * not needed.
   */
  land(isComplete: boolean): Promise<void> {
    const { repository, lock } = this.parts
    return lock.hold(async () => {
      const head = await headOf(repository)
      let tip = await this.tip()
      if (!(await this.isWithin(tip, head))) {
        if (!(await this.isWithin(head, tip))) tip = await this.joined(head, tip)
        await this.forward(tip)
      }
      if (isComplete) await git(repository.top, 'update-ref', '-d', this.parts.ref, tip)
    })
  }

  /** The branch with what was committed beside the map. */
  private async joined(head: string, tip: string): Promise<string> {
    const name = this.parts.ref.slice(HEADS.length)
    const commit = await this.mergedAside(tip, head, `Merge what was committed beside ${name}`)
    if (typeof commit !== 'string') throw this.unlandable(`${commit.files.join(', ')} were changed on both sides`)
    if (await this.moved(tip, commit)) return commit
    throw this.unlandable('somebody else moved the branch')
  }

  private async forward(tip: string): Promise<void> {
    const { top } = this.parts.repository
    try {
      await git(top, 'merge', '--quiet', '--ff-only', '--no-autostash', tip)
    } catch (error) {
      if (!(error instanceof GitError)) throw error
      const changed = await changedFiles(this.parts.repository)
      const why = changed.length === 0 ? error.message : `${changed.slice(0, MOST_NAMED).join(', ')} changed meanwhile`
      throw this.unlandable(why)
    }
  }

  private unlandable(why: string): SetupError {
    const name = this.parts.ref.slice(HEADS.length)
    const cure = `Run \`git merge ${name}\` there, and resume the run`
    const where = this.parts.repository.top
    return new SetupError(
      'not_merged',
      `the items are merged on branch ${name}, which cannot be brought to ${where}: ${why}. ${cure}`,
    )
  }

  /** The commit with the work; undefined if the branch has it already. */
  private async made(work: Work, tip: string): Promise<string | undefined> {
    const { repository, identity } = this.parts
    const message = markedMessage(work.message, work)
    if (work.start === tip) {
      const tree = await git(repository.top, 'rev-parse', `${work.tip}^{tree}`)
      const args = ['commit-tree', tree, '-p', tip, '-p', work.tip, '-F', '-']
      return (await askGit(repository.top, args, { input: message, env: await identity() })).text
    }
    if (await this.isWithin(work.tip, tip)) return undefined
    const commit = await this.mergedAside(tip, work.tip, message)
    if (typeof commit === 'string') return commit
    throw new MergeConflictError(work.branch, commit.files)
  }

  /** A merge of one commit into another, or the files that conflict. */
  private async mergedAside(into: string, from: string, message: string): Promise<string | { files: string[] }> {
    const tree = await this.parts.aside()
    await tree.rest(into)
    const args = ['merge', '--quiet', '--no-ff', '--no-edit', '--no-autostash', '-m', message, from]
    const env = await this.parts.identity()
    const { code } = await tree.ask(args, { env, answers: [1] })
    if (code === 0) return tree.git('rev-parse', 'HEAD')
    const files = (await tree.git('diff', '--name-only', '--diff-filter=U')).split('\n').filter(Boolean)
    await tree.rest(into)
    return { files: files.length === 0 ? ['its changes'] : files }
  }

  /** False if it was another one by now. */
  private async moved(from: string, to: string): Promise<boolean> {
    const { repository, ref } = this.parts
    try {
      await git(repository.top, 'update-ref', ref, to, from)
      return true
    } catch (error) {
      if ((await this.tip()) !== from) return false
      throw error
    }
  }

  private async isWithin(commit: string, of: string): Promise<boolean> {
    const args = ['merge-base', '--is-ancestor', commit, of]
    return (await askGit(this.parts.repository.top, args, { answers: [1] })).code === 0
  }

  private async find(): Promise<string | undefined> {
    const { repository, ref } = this.parts
    const args = ['rev-parse', '--verify', '--quiet', `${ref}^{commit}`]
    const { code, text } = await askGit(repository.top, args, { answers: [1, 128] })
    return code === 0 ? text : undefined
  }
}
