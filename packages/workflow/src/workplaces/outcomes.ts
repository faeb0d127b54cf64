/**
 * What items gave whose work is being merged: written before the merge, so that an execution which finds the merge of one
 * that was killed finds what it gave. Imports Node and the error of files.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'
import type { Json } from 'reprise/durable'
import { stateErrorOf } from '../state/state-error.js'

export class Outcomes {
  private readonly directory: string

  constructor(directory: string) {
    this.directory = directory
  }

  /** On the disk when it returns. */
  keep(attempt: string, outcome: Json): void {
    const file = this.fileOf(attempt)
    try {
      mkdirSync(this.directory, { recursive: true, mode: 0o700 })
      const descriptor = openSync(`${file}.tmp`, 'w', 0o600)
      try {
        const bytes = Buffer.from(JSON.stringify(outcome))
        for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at)
        fsyncSync(descriptor)
      } finally {
        closeSync(descriptor)
      }
      renameSync(`${file}.tmp`, file)
    } catch (error) {
      throw stateErrorOf(file, error)
    }
  }

  /** Null if nothing was kept. */
  read(attempt: string): Json {
    try {
      return JSON.parse(readFileSync(this.fileOf(attempt), 'utf8')) as Json
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return null
      throw stateErrorOf(this.fileOf(attempt), error)
    }
  }

  /** All items have ended: nobody asks any more. */
  forget(): void {
    try {
      rmSync(this.directory, { recursive: true, force: true })
    } catch (error) {
      throw stateErrorOf(this.directory, error)
    }
  }

  private fileOf(attempt: string): string {
    return path.join(this.directory, `${attempt}.json`)
  }
}
