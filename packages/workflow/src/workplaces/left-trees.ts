/**
 * Working trees and branches that maps of a run have left in a repository: found and removed by whoever forgets the run, or
 * looks for what a crash has left. Imports Node and git.
 *
 * Invariants: a tree whose process lives is left alone. What is in a tree becomes a commit before the tree is removed, and a
 * branch with commits that no other branch has stays.
 */
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { askGit, git } from './git.js'
import { findRepository } from './repository.js'
import { RepositoryLock } from './repository-lock.js'
import { identityIn, Tree } from './tree.js'

/** What was left of the maps of a run. */
export interface LeftTrees {
  /** Directories of working trees that are gone. */
  readonly trees: readonly string[]
  /** Branches with work that is on no other branch: they stay. */
  readonly branches: readonly string[]
}

const NOTHING: LeftTrees = { trees: [], branches: [] }

/** `directory`: where the files of the run are. `isDry`: only looks. */
export async function removeLeftTrees(directory: string, cwd: string, isDry: boolean): Promise<LeftTrees> {
  const holders = treeDirectories(directory)
  if (holders.length === 0 || !existsSync(cwd)) return NOTHING
  const repository = await findRepository(cwd)
  if (repository === undefined) return NOTHING
  const { top, common } = repository
  const identity = identityIn(top)
  const find = (): Tree[] => holders.flatMap((holder) => Tree.lostIn(holder, identity))
  const found = find()
  if (found.length === 0) return NOTHING
  if (isDry) return { trees: found.map((tree) => tree.path), branches: [] }
  return new RepositoryLock(common).hold(async () => {
    const branches: string[] = []
    // Once more: a process that adds a tree holds the lock, and its mark is not whole before.
    const lost = find()
    for (const tree of lost) {
      const branch = tree.isThere ? await tree.rescue() : undefined
      await tree.remove(top)
      if (branch !== undefined && !(await removeWithoutWork(top, branch))) branches.push(branch)
    }
    return { trees: lost.map((tree) => tree.path), branches }
  })
}

/** False if the branch has commits that no other branch has: then it stays. */
async function removeWithoutWork(repository: string, branch: string): Promise<boolean> {
  const own = `refs/heads/${branch}`
  // A branch without work has been removed already.
  if ((await askGit(repository, ['rev-parse', '--verify', '--quiet', own], { answers: [1, 128] })).code !== 0)
    return true
  // Of `--branches`, what is excluded is named without `refs/heads/`.
  const args = ['rev-list', '--max-count=1', own, '--not', `--exclude=${branch}`, '--branches', '--remotes']
  if ((await git(repository, ...args)) !== '') return false
  await git(repository, 'update-ref', '-d', own)
  return true
}

/** Those of each map of the run. */
function treeDirectories(directory: string): string[] {
  if (!existsSync(directory)) return []
  const names = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return names.map(({ name }) => path.join(directory, name, TREES)).filter((one) => existsSync(one))
}

/** Where the trees of a map are, beside its other files. */
export const TREES = 'trees'
