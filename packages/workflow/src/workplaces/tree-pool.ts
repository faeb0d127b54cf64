/**
 * The working trees of one process: as many as attempts need, used again one after the other. Imports the tree and the lock.
 *
 * Invariants: a tree is one attempt's at a time. Trees are added one by one. While attempts that were aborted still hold
 * trees, no more than `most` are added.
 */
import { randomBytes } from 'node:crypto'
import path from 'node:path'
import type { RepositoryLock } from './repository-lock.js'
import { Tree } from './tree.js'

export interface TreePoolParts {
  /** A working tree of the repository. */
  readonly repository: string
  /** Where the trees are. */
  readonly directory: string
  /** Any commit: a tree is reset before it is used. */
  readonly commit: string
  readonly lock: RepositoryLock
  readonly most: number
  readonly identity: () => Promise<Readonly<Record<string, string>>>
}

export class TreePool {
  private readonly parts: TreePoolParts
  private readonly trees = new Set<Tree>()
  private readonly idle: Tree[] = []
  private readonly held = new Map<Tree, AbortSignal>()
  private waiting: (() => void)[] = []
  private adding = 0
  private named = 0
  /** Names of trees differ from those of other processes. */
  private readonly mark = randomBytes(4).toString('hex')

  constructor(parts: TreePoolParts) {
    this.parts = parts
  }

  async take(signal: AbortSignal): Promise<Tree> {
    for (;;) {
      const tree = this.idle.pop()
      if (tree !== undefined) return this.hold(tree, signal)
      const isLeaving = [...this.held.values()].some((one) => one.aborted)
      if (this.trees.size + this.adding < this.parts.most || !isLeaving) return this.hold(await this.add(), signal)
      await new Promise<void>((resolve) => this.waiting.push(resolve))
    }
  }

  give(tree: Tree): void {
    this.held.delete(tree)
    // One that somebody has removed would fail each attempt that takes it; its mark is left for who cleans up.
    if (tree.isThere) this.idle.push(tree)
    else this.trees.delete(tree)
    for (const resolve of this.waiting.splice(0)) resolve()
  }

  /** Resolves when all trees are removed: nobody holds one any more. */
  async removeAll(): Promise<void> {
    const { repository, lock } = this.parts
    this.idle.length = 0
    await lock.hold(async () => {
      for (const tree of this.trees) await tree.remove(repository)
    })
    this.trees.clear()
  }

  private hold(tree: Tree, signal: AbortSignal): Tree {
    this.held.set(tree, signal)
    return tree
  }

  private async add(): Promise<Tree> {
    const { repository, directory, commit, lock, identity } = this.parts
    const name = path.join(directory, `${this.mark}-${this.named++}`)
    this.adding++
    try {
      const tree = await lock.hold(() => Tree.add(repository, name, commit, identity))
      this.trees.add(tree)
      return tree
    } finally {
      this.adding--
    }
  }
}
