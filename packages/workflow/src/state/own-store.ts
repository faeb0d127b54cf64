/**
 * The files of a ledger: SQLite opens whatever is in their place, follows links, and makes what is not there. So they are
 * looked at before. In a state directory they are plain files of our own; elsewhere a person has named the file, and may
 * have named a link. Makes nothing. And what of an address is nobody's business. Imports own files, the error and the name.
 */
import { statSync } from 'node:fs'
import path from 'node:path'
import { expectOwnDirectory, expectOwnFile, kindOf, lookIfThere } from './own-files.js'
import { StateError } from './state-error.js'
import { STATE_NAME } from './state-path.js'

const SUFFIXES = ['', '-wal', '-shm', '-journal']

/** `store`: an address, of which only `sqlite:PATH` has files. */
export function expectOwnStore(store: string, stateDirectory: string): void {
  const [, name] = /^sqlite:(.+)$/s.exec(store) ?? []
  // What is no path at all is told by whoever opens it.
  if (name === undefined || name.includes('\0')) return
  const file = path.resolve(name)
  const directory = path.dirname(file)
  const isInside = directory === path.resolve(stateDirectory) || path.basename(directory) === STATE_NAME
  if (isInside && lookIfThere(directory) !== undefined) expectOwnDirectory(directory)
  for (const suffix of SUFFIXES) {
    // Looked at once: the last one to close a ledger removes some of them at any moment.
    const stats = lookIfThere(`${file}${suffix}`)
    if (stats === undefined) continue
    if (isInside) expectOwnFile(`${file}${suffix}`, stats)
    else expectFile(`${file}${suffix}`)
  }
}

/**
 * An address with a password, which steps may find in their environment and write into a log; empty if there is none in
 * it. Not the password alone: that may be a word which results of steps have as well.
 */
export function secretAddress(store: string): string {
  if (!/^\w+:\/\//.test(store) || !URL.canParse(store)) return ''
  const { password, searchParams } = new URL(store)
  return password === '' && !searchParams.has('password') ? '' : store
}

function expectFile(file: string): void {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats === undefined || stats.isFile()) return
  throw new StateError(file, `is ${kindOf(stats)}, not a plain file`, 'remove it, or choose another file')
}
