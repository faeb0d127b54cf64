/**
 * One working tree of ours. Imports Node and git.
 *
 * Invariants: what an attempt did in it is a commit before anything of it is removed. A tree belongs to one process, which
 * its mark names; of a process that is gone, another one commits what is left and removes the tree.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { isProcessGone, ownIdentity } from 'reprise/internal'
import { stateErrorOf } from '../state/state-error.js'
import { askGit, git } from './git.js'

type Identity = () => Promise<Readonly<Record<string, string>>>

/** Beside the tree: which process it belongs to. */
const MARK = '.owner'
const UNFINISHED = 'Work of an attempt that did not end'

export class Tree {
  readonly path: string
  private readonly identity: Identity

  private constructor(directory: string, identity: Identity) {
    this.path = directory
    this.identity = identity
  }

  /** Adds a tree to the repository, at no branch. */
  static async add(repository: string, directory: string, commit: string, identity: Identity): Promise<Tree> {
    const own = JSON.stringify(ownIdentity())
    attempt(directory, () => {
      mkdirSync(path.dirname(directory), { recursive: true, mode: 0o700 })
      writeFileSync(`${directory}${MARK}`, own, { mode: 0o600 })
    })
    await git(repository, 'worktree', 'add', '--quiet', '--force', '--detach', directory, commit)
    return new Tree(directory, identity)
  }

  /** Those in a directory whose processes are gone. */
  static lostIn(directory: string, identity: Identity): Tree[] {
    if (!existsSync(directory)) return []
    const names = attempt(directory, () => readdirSync(directory)).filter((name) => name.endsWith(MARK))
    return names.flatMap((name) => {
      const mark = attempt(directory, () => readFileSync(path.join(directory, name), 'utf8'))
      return isProcessGone(mark) ? new Tree(path.join(directory, name.slice(0, -MARK.length)), identity) : []
    })
  }

  /** At no branch, as the commit has it: nothing is left of what was done before. */
  async rest(commit: string): Promise<void> {
    await git(this.path, 'checkout', '--quiet', '--force', '--detach', commit)
    await git(this.path, 'reset', '--quiet', '--hard')
    await git(this.path, 'clean', '--quiet', '-ffdx')
  }

  /** The same, at a new branch. */
  async begin(branch: string, commit: string): Promise<void> {
    await this.rest(commit)
    await git(this.path, 'checkout', '--quiet', '-b', branch)
  }

  /** Commits what is not committed. Resolves to the last commit. */
  async commitAll(message: string): Promise<string> {
    await git(this.path, 'add', '--all')
    const { code } = await askGit(this.path, ['diff', '--cached', '--quiet'], { answers: [1] })
    const args = ['commit', '--quiet', '--no-verify', '--allow-empty-message', '-F', '-']
    if (code === 1) await askGit(this.path, args, { input: message, env: await this.identity() })
    return git(this.path, 'rev-parse', 'HEAD')
  }

  /** The branch that it is at; undefined if it is at none. */
  async branch(): Promise<string | undefined> {
    const { code, text } = await askGit(this.path, ['symbolic-ref', '--quiet', '--short', 'HEAD'], { answers: [1] })
    return code === 0 ? text : undefined
  }

  /** Of a process that is gone: what is left in it becomes a commit of its branch. Resolves to the branch, if it has one. */
  async rescue(): Promise<string | undefined> {
    const directory = await git(this.path, 'rev-parse', '--absolute-git-dir')
    // Whoever held it is gone.
    for (const lock of ['index.lock', 'HEAD.lock']) rmSync(path.join(directory, lock), { force: true })
    const branch = await this.branch()
    if (branch !== undefined) await this.commitAll(UNFINISHED)
    return branch
  }

  /** Removes the tree, not the branch. */
  async remove(repository: string): Promise<void> {
    if (existsSync(this.path)) {
      await askGit(repository, ['worktree', 'remove', '--force', '--force', this.path], { answers: [128] })
      attempt(this.path, () => rmSync(this.path, { recursive: true, force: true }))
    }
    await git(repository, 'worktree', 'prune')
    attempt(this.path, () => rmSync(`${this.path}${MARK}`, { force: true }))
  }

  /** Whether it was added: a process may have been killed before that. */
  get isThere(): boolean {
    return existsSync(path.join(this.path, '.git'))
  }
}

/** As arguments of git: those of the user, or a name of our own where there is none. */
export function identityIn(repository: string): Identity {
  let known: Promise<Readonly<Record<string, string>>> | undefined
  const look = async (): Promise<Readonly<Record<string, string>>> => {
    const { code } = await askGit(repository, ['var', 'GIT_COMMITTER_IDENT'], { answers: [1, 128] })
    if (code === 0) return {}
    const [name, email] = ['Reprise', 'reprise@localhost']
    return { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email }
  }
  return () => (known ??= look())
}

function attempt<T>(file: string, act: () => T): T {
  try {
    return act()
  } catch (error) {
    throw stateErrorOf(file, error)
  }
}
