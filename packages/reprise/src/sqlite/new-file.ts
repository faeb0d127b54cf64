/**
 * A file that is made beside its place, and put there when it is whole and on the disk. Imports Node and
 * the ledger's errors.
 */
import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { LedgerError } from '../ledger/errors.js'

/** What SQLite may leave beside a file. */
const SUFFIXES = ['', '-wal', '-shm', '-journal']

/** `make` gets the name of an empty file, for this user only. Nothing is left of one that is not finished. */
export async function newFile(target: string, make: (partial: string) => Promise<void>): Promise<void> {
  expectNothing(target)
  const partial = `${target}.${process.pid}.partial`
  try {
    closeSync(openSync(partial, 'wx', 0o600))
    await make(partial)
    sync(partial, 'r+')
    place(partial, target)
    sync(path.dirname(path.resolve(target)), 'r')
  } catch (error) {
    if (typeof (error as NodeJS.ErrnoException).syscall !== 'string') throw error
    throw new LedgerError('unusable', `${target} cannot be written: ${(error as Error).message}`, error)
  } finally {
    for (const suffix of SUFFIXES) rmSync(`${partial}${suffix}`, { force: true })
  }
}

function expectNothing(target: string): void {
  if (!existsSync(target)) return
  throw new LedgerError('refused', `${target} is there already: name a file that is not`)
}

/** A link fails if somebody was faster; not every file system has them. */
function place(partial: string, target: string): void {
  try {
    linkSync(partial, target)
  } catch (error) {
    expectNothing(target)
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error
    renameSync(partial, target)
  }
}

function sync(file: string, flags: 'r' | 'r+'): void {
  const handle = openSync(file, flags)
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
