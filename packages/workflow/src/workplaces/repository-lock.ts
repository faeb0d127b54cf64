/**
 * One process at a time: who adds working trees to a repository, or merges into a branch of it. Imports Node and the
 * library.
 *
 * Invariants: a lock names the process that holds it. One whose process is gone is taken over. Whoever holds the lock is
 * alone in most cases, and nothing depends on it: a branch moves by comparing what it was.
 */
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isProcessGone, ownIdentity } from 'reprise/internal'

const WAIT_MS = 15

export class RepositoryLock {
  private readonly file: string
  private readonly own: string
  /** In the names of files that are this lock's alone: a process may have several. */
  private readonly id: string
  /** Those of this process wait here, in order. */
  private last: Promise<unknown> = Promise.resolve()

  /** `directory`: what all working trees of the repository share. */
  constructor(directory: string) {
    this.file = path.join(directory, 'reprise.lock')
    const identity = ownIdentity()
    this.id = identity.id
    this.own = JSON.stringify(identity)
  }

  hold<T>(act: () => Promise<T>): Promise<T> {
    const held = this.last.then(async () => {
      await this.take()
      try {
        return await act()
      } finally {
        this.release()
      }
    })
    this.last = held.catch(() => undefined)
    return held
  }

  private async take(): Promise<void> {
    const mark = `${this.file}.${this.id}`
    writeFileSync(mark, this.own)
    try {
      while (!this.tryTake(mark)) await pause(WAIT_MS * (0.5 + Math.random()))
    } finally {
      rmSync(mark, { force: true })
    }
  }

  private tryTake(mark: string): boolean {
    try {
      linkSync(mark, this.file)
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const holder = this.holder()
    if (holder !== undefined && (holder === this.own || isProcessGone(holder))) this.dropLost(holder)
    return false
  }

  /** Somebody else may have taken it over meanwhile: then it is put back. */
  private dropLost(holder: string): void {
    const aside = `${this.file}.${this.id}.lost`
    try {
      renameSync(this.file, aside)
      if (readFileSync(aside, 'utf8') !== holder) linkSync(aside, this.file)
    } catch {
      // It has gone, or has another holder: the next try finds out.
    } finally {
      rmSync(aside, { force: true })
    }
  }

  private release(): void {
    if (this.holder() === this.own) rmSync(this.file, { force: true })
  }

  private holder(): string | undefined {
    try {
      return readFileSync(this.file, 'utf8')
    } catch {
      return undefined
    }
  }
}
