/**
 * Which group of processes an attempt has, noted beside its log for as long as it runs: after a crash it is found by
 * this even if it has cleared its environment. Not synced: when the machine dies, so do its processes.
 *
 * Invariants: only a plain file of our own is written or read, never what a link leads to. It counts in the same boot
 * and space of pids only. Imports the process table and the state's error.
 */
import { closeSync, constants, fstatSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs'
import { StateError, stateErrorOf } from '../state/state-error.js'
import { pidSpace } from './process-table.js'

const { O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_TRUNC, O_WRONLY } = constants
const MOST_BYTES = 4096

export interface GroupNote {
  readonly group: number
  /** Of the group's leader. */
  readonly start: string
  readonly tag: string
  /** The mark of the agent that started it; absent for a command of a conductor. */
  readonly agent?: string
}

let space: string | undefined
const ownSpace = (): string => (space ??= pidSpace())

export function writeGroupFile(file: string, note: GroupNote): void {
  // Without waiting: should it be a pipe, nobody may ever read it.
  const fd = openToWrite(file)
  try {
    if (!fstatSync(fd).isFile()) throw new StateError(file, 'is no plain file', 'remove it')
    writeSync(fd, `${JSON.stringify({ ...note, space: ownSpace() })}\n`)
  } catch (error) {
    throw stateErrorOf(file, error)
  } finally {
    closeSync(fd)
  }
}

function openToWrite(file: string): number {
  try {
    return openSync(file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK, 0o600)
  } catch (error) {
    throw stateErrorOf(file, error)
  }
}

/** null: there is none, or it says nothing that counts here. */
export function readGroupFile(file: string): GroupNote | null {
  try {
    const { group, start, tag, agent, space: where } = JSON.parse(readStart(file)) as Record<string, unknown>
    if (where !== ownSpace() || where === '' || !Number.isSafeInteger(group) || (group as number) <= 1) return null
    if (typeof start !== 'string' || typeof tag !== 'string') return null
    return { group: group as number, start, tag, ...(typeof agent === 'string' && { agent }) }
  } catch {
    return null
  }
}

/** One that cannot be removed does no harm: its group is gone. */
export function removeGroupFile(file: string): void {
  try {
    unlinkSync(file)
  } catch {
    // Somebody was faster.
  }
}

function readStart(file: string): string {
  const fd = openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    if (!fstatSync(fd).isFile()) return ''
    const bytes = Buffer.alloc(MOST_BYTES)
    return bytes.toString('utf8', 0, readSync(fd, bytes, 0, MOST_BYTES, 0))
  } finally {
    closeSync(fd)
  }
}
