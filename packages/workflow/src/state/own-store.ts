/**
 * The files of a ledger: SQLite opens whatever is in their place, follows links, and makes what is not there. So they are
 * looked at before. In a state directory they are plain files of our own; elsewhere a person has named the file, and may
 * have named a link. Makes nothing. Imports own files and the error.
 */
import { lstatSync, statSync } from 'node:fs'
import path from 'node:path'
import { expectOwnDirectory, expectOwnFile, kindOf } from './own-files.js'
import { StateError, stateErrorOf } from './state-error.js'

const SUFFIXES = ['', '-wal', '-shm', '-journal']

/** `store`: an address, of which only `sqlite:PATH` has files. */
export function expectOwnStore(store: string, stateDirectory: string): void {
  const [, name] = /^sqlite:(.+)$/s.exec(store) ?? []
  // What is no path at all is told by whoever opens it.
  if (name === undefined || name.includes('\0')) return
  const file = path.resolve(name)
  const isInside = path.dirname(file) === path.resolve(stateDirectory)
  if (isInside && isThere(stateDirectory)) expectOwnDirectory(stateDirectory)
  for (const suffix of SUFFIXES) {
    if (!isThere(`${file}${suffix}`)) continue
    if (isInside) expectOwnFile(`${file}${suffix}`)
    else expectFile(`${file}${suffix}`)
  }
}

function expectFile(file: string): void {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats === undefined || stats.isFile()) return
  throw new StateError(file, `is ${kindOf(stats)}, not a plain file`, 'remove it, or choose another file')
}

/** Also a link that leads nowhere. */
function isThere(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    throw stateErrorOf(file, error)
  }
}
