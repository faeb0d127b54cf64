/**
 * Opens and makes files and directories that are ours alone, and refuses what somebody has put in their place: links,
 * pipes, devices, files of others. Imports Node and the error.
 */
import { closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync, type Stats } from 'node:fs'
import { StateError, stateErrorOf } from './state-error.js'

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants
const OTHERS_WRITE = 0o022

/** True: it is new. */
export function makeOwnDirectory(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw stateErrorOf(path, error)
    expectOwnDirectory(path)
    return false
  }
}

/** True, or it throws. */
export function expectOwnDirectory(path: string): true {
  const stats = look(path)
  if (!stats.isDirectory()) throw new StateError(path, `is ${kindOf(stats)}, not a directory`, 'remove it')
  expectOwner(path, stats)
  if ((stats.mode & OTHERS_WRITE) !== 0) {
    throw new StateError(path, 'can be written by others', `close it to them (chmod go-w ${path})`)
  }
  return true
}

/** `stats`: of who has looked before. A second look may find that the file has gone meanwhile. */
export function expectOwnFile(path: string, stats: Stats = look(path)): Stats {
  if (!stats.isFile()) throw new StateError(path, `is ${kindOf(stats)}, not a plain file`, 'remove it')
  expectOwner(path, stats)
  return stats
}

/** To write at its end. It does not wait: nobody may ever read from a pipe in its place. */
export function openOwnFile(path: string): number {
  const fd = open(path)
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile()) throw new StateError(path, `is ${kindOf(stats)}, not a plain file`, 'remove it')
    expectOwner(path, stats)
    return fd
  } catch (error) {
    closeSync(fd)
    throw stateErrorOf(path, error)
  }
}

function open(path: string): number {
  try {
    return openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0o600)
  } catch (error) {
    throw stateErrorOf(path, error)
  }
}

function look(path: string): Stats {
  try {
    return lstatSync(path)
  } catch (error) {
    throw stateErrorOf(path, error)
  }
}

/** Also of a link that leads nowhere. */
export function lookIfThere(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    throw stateErrorOf(path, error)
  }
}

function expectOwner(path: string, { uid }: Stats): void {
  const own = process.geteuid?.() ?? uid
  if (uid === own) return
  throw new StateError(path, `belongs to another user (${uid})`, 'run as that user, or choose another directory')
}

/** In words: `a symbolic link`. */
export function kindOf(stats: Stats): string {
  if (stats.isSymbolicLink()) return 'a symbolic link'
  if (stats.isFIFO()) return 'a pipe'
  if (stats.isSocket()) return 'a socket'
  if (stats.isDirectory()) return 'a directory'
  return stats.isFile() ? 'a file' : 'a device'
}
