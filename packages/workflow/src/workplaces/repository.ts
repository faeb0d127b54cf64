/** The repository that a run works in, and whether maps can have working trees of it. Imports the ledger's types, errors and git. */
import path from 'node:path'
import type { Ledger } from 'reprise/durable'
import { SetupError } from '../values/setup-error.js'
import { askGit, git, GitError } from './git.js'

export interface Repository {
  /** The working tree that the run works in. */
  readonly top: string
  /** The directory of the run within it; empty for the top itself. */
  readonly prefix: string
  /** What all working trees of the repository share. */
  readonly common: string
}

/** Undefined outside a repository. */
export async function findRepository(cwd: string): Promise<Repository | undefined> {
  try {
    const text = await git(cwd, 'rev-parse', '--show-toplevel', '--show-prefix', '--git-common-dir')
    const [top = '', prefix = '', common = ''] = text.split('\n')
    return { top, prefix: prefix.replace(/\/$/, ''), common: path.resolve(cwd, common) }
  } catch (error) {
    if (error instanceof GitError && !error.isMissing) return undefined
    throw error
  }
}

/** The commit that is checked out. */
export function headOf({ top }: Repository): Promise<string> {
  return git(top, 'rev-parse', '--verify', 'HEAD^{commit}')
}

/** Files that git knows and that differ from the commit that is checked out. */
export async function changedFiles({ top }: Repository): Promise<string[]> {
  const { text } = await askGit(top, ['status', '--porcelain', '--untracked-files=no', '-z'])
  return text.split('\0').flatMap((entry) => (/^.. /.test(entry) ? entry.slice(3) : []))
}

/** A map cannot have working trees. Nothing has begun. */
export class WorktreesRefusedError extends SetupError {
  /** What to do. */
  readonly suggestion: string

  constructor(message: string, suggestion: string) {
    super('no_worktrees', message)
    this.suggestion = suggestion
  }

  override get name(): string {
    return 'WorktreesRefusedError'
  }
}

export interface WorktreesRequest {
  /** The name of the map, for the message. */
  readonly map: string
  readonly cwd: string
  /** Who can share the store. */
  readonly spans: Ledger['spans']
  /** No map of the run has begun: nothing of the repository may be left to be committed. */
  readonly isNew: boolean
}

/** That a map can have working trees, before anything of its run is begun. Throws a `WorktreesRefusedError`. */
export async function expectWorktrees({ map, cwd, spans, isNew }: WorktreesRequest): Promise<void> {
  const refuse = (what: string, cure: string): never => {
    throw new WorktreesRefusedError(`Map ${map} has \`isolation: worktree\`, and ${what}`, cure)
  }
  if (spans === 'network') {
    const why = 'the store may have agents on other machines, which do not see a working tree of this one'
    refuse(why, 'take a store of this machine (`--store sqlite:PATH`), or `isolation: directory`')
  }
  const repository = await repositoryAt(cwd, refuse)
  if (!(await hasCommit(repository)))
    refuse(`${repository.top} has no commit yet`, 'commit what the items are to work on')
  if (!isNew) return
  const changed = await changedFiles(repository)
  if (changed.length === 0) return
  const named = changed.slice(0, MOST_NAMED).join(', ')
  const more = changed.length > MOST_NAMED ? ` and ${changed.length - MOST_NAMED} more` : ''
  const what = `${repository.top} has changes that are not committed (${named}${more}): the items would not see them`
  refuse(what, 'commit them, or put them aside with `git stash`')
}

const MOST_NAMED = 3

async function repositoryAt(cwd: string, refuse: (what: string, cure: string) => never): Promise<Repository> {
  try {
    const repository = await findRepository(cwd)
    if (repository !== undefined) return repository
  } catch (error) {
    if (error instanceof GitError && error.isMissing) refuse('there is no program `git` in PATH', 'install git')
    throw error
  }
  return refuse(`${cwd} is in no git repository`, 'run it within one (`git init`), or take `isolation: directory`')
}

async function hasCommit({ top }: Repository): Promise<boolean> {
  return (await askGit(top, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], { answers: [1, 128] })).code === 0
}
