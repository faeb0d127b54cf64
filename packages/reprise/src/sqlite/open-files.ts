/**
 * The files of a database that is in use, by what they are and not by their names: somebody may remove or replace them
 * meanwhile, and what is then written goes where nobody will look. SQLite does not notice. Imports Node.
 *
 * They are looked at and never opened: to close any handle of a file would drop the locks that this process has on it.
 */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'

export type FileProblem = 'database' | 'log'

export class OpenFiles {
  readonly file: string
  private readonly database: string | undefined
  private readonly log: string | undefined

  constructor(file: string) {
    // As it is now: the program may go to another directory.
    this.file = resolve(file)
    this.database = identityOf(this.file)
    this.log = identityOf(`${this.file}-wal`)
  }

  /** Which of them is not any more what was opened. */
  get problem(): FileProblem | undefined {
    if (this.database !== undefined && identityOf(this.file) !== this.database) return 'database'
    if (this.log !== undefined && identityOf(`${this.file}-wal`) !== this.log) return 'log'
    return undefined
  }
}

function identityOf(file: string): string | undefined {
  const stat = statSync(file, { throwIfNoEntry: false })
  return stat && `${stat.dev} ${stat.ino}`
}
