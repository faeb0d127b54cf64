/**
 * One working tree of ours. Imports Node and git.
 *
 * Invariants: what an attempt did in it is a commit before anything of it is removed. A tree belongs to one process, which
 * its mark names; of a process that is gone, another one commits what is left and removes the tree. What is done in a tree
 * is done in no other, though it may be gone.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { isProcessGone, ownIdentity } from 'reprise/internal'
import { stateErrorOf } from '../state/state-error.js'
import { askGit, git, type GitAnswer, type GitOptions } from './git.js'

type Identity = () => Promise<Readonly<Record<string, string>>>

/** Beside the tree: which process it belongs to. */
const MARK = '.owner'
const CEILING = 'GIT_CEILING_DIRECTORIES'
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

  /**
   * Those in a directory whose processes are gone. Only under the lock is it certain: else a tree may be among them whose
   * process is just writing the mark, and one that another process has removed since.
   */
  static lostIn(directory: string, identity: Identity): Tree[] {
    if (!existsSync(directory)) return []
    const names = attempt(directory, () => readdirSync(directory)).filter((name) => name.endsWith(MARK))
    return names.flatMap((name) => {
      const mark = attempt(directory, () => readIfThere(path.join(directory, name)))
      if (mark === undefined || !isProcessGone(mark)) return []
      return new Tree(path.join(directory, name.slice(0, -MARK.length)), identity)
    })
  }

  /**
   * Git in this tree, and in no other: trees are within a repository, and in a tree that somebody has removed git would
   * take that one, with what a person has changed there.
   */
  ask(args: readonly string[], { env, ...options }: GitOptions = {}): Promise<GitAnswer> {
    return askGit(this.path, args, { ...options, env: { ...env, ...withinTrees(path.dirname(this.path)) } })
  }

  async git(...args: readonly string[]): Promise<string> {
    return (await this.ask(args)).text
  }

  /** At no branch, as the commit has it: nothing is left of what was done before. */
  async rest(commit: string): Promise<void> {
    await this.git('checkout', '--quiet', '--force', '--detach', commit)
    await this.git('reset', '--quiet', '--hard')
    await this.git('clean', '--quiet', '-ffdx')
  }

  /** The same, at a new branch. */
  async begin(branch: string, commit: string): Promise<void> {
    await this.rest(commit)
    await this.git('checkout', '--quiet', '-b', branch)
  }

  /** Commits what is not committed. Resolves to the last commit. */
  async commitAll(message: string): Promise<string> {
    await this.git('add', '--all')
    const { code } = await this.ask(['diff', '--cached', '--quiet'], { answers: [1] })
    const args = ['commit', '--quiet', '--no-verify', '--allow-empty-message', '-F', '-']
    if (code === 1) await this.ask(args, { input: message, env: await this.identity() })
    return this.git('rev-parse', 'HEAD')
  }

  /** The branch that it is at; undefined if it is at none. */
  async branch(): Promise<string | undefined> {
    const { code, text } = await this.ask(['symbolic-ref', '--quiet', '--short', 'HEAD'], { answers: [1] })
    return code === 0 ? text : undefined
  }

  /** Of a process that is gone: what is left in it becomes a commit of its branch. Resolves to the branch, if it has one. */
  async rescue(): Promise<string | undefined> {
    const directory = await this.git('rev-parse', '--absolute-git-dir')
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

  /** Whether it was added, and not removed since: a process may have been killed before that. */
  get isThere(): boolean {
    return existsSync(path.join(this.path, '.git'))
  }
}

/** Variables with which git, below this directory of trees, finds no repository above it. */
export function withinTrees(directory: string): Readonly<Record<string, string>> {
  const others = process.env[CEILING]
  return { [CEILING]: others === undefined ? directory : `${directory}${path.delimiter}${others}` }
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

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
