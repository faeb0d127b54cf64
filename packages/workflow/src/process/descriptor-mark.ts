/**
 * A mark that a process keeps though it leaves group, session and parents and clears its environment: the file in which
 * the attempt's group is noted is open in everything that the attempt starts, under a number that nobody uses. Who holds
 * it is told by `/proc`, so elsewhere there is no mark. It is lost by who closes the descriptors that it does not know,
 * as daemons do. Imports Node only.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, statSync } from 'node:fs'

/** Above what scripts open by hand, below what bash uses for itself. */
export const MARK_DESCRIPTOR = 21
const { O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/** A file by what it is, not by its name: that may be reached through links. */
export interface FileId {
  readonly device: bigint
  readonly inode: bigint
}

/** To be given to a program, and closed here when nothing of the program is left: until then no other file has its number. */
export interface DescriptorMark {
  readonly descriptor: number
  readonly id: FileId
}

/** null: the file cannot be opened or is no plain file, which the attempt is told when it notes its group there. */
export function openMark(file: string | undefined): DescriptorMark | null {
  if (file === undefined || process.platform !== 'linux') return null
  try {
    const descriptor = openElsewhere(file)
    const stat = fstatSync(descriptor, { bigint: true })
    if (stat.isFile()) return { descriptor, id: { device: stat.dev, inode: stat.ino } }
    closeSync(descriptor)
    return null
  } catch {
    return null
  }
}

/**
 * Under any number but that of the mark: while this process starts a program it would itself look like one that the attempt
 * has started, to another process that ends what is left of the attempt.
 */
function openElsewhere(file: string): number {
  const open = (): number => openSync(file, O_RDONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600)
  const descriptor = open()
  if (descriptor !== MARK_DESCRIPTOR) return descriptor
  try {
    return open()
  } finally {
    closeSync(descriptor)
  }
}

export function closeMark(mark: DescriptorMark | null): void {
  if (mark !== null) closeSync(mark.descriptor)
}

/** null: there is no such file. */
export function fileIdOf(file: string): FileId | null {
  try {
    const stat = lstatSync(file, { bigint: true })
    return stat.isFile() ? { device: stat.dev, inode: stat.ino } : null
  } catch {
    return null
  }
}

/** Whether the process holds one of these files as its mark. */
export function holdsMark(pid: number, ids: readonly FileId[]): boolean {
  if (ids.length === 0) return false
  const { stackTraceLimit } = Error
  // Asked of every process, and as a rule there is no such descriptor: nobody looks at the trace of that error.
  Error.stackTraceLimit = 0
  try {
    const { dev, ino } = statSync(`/proc/${pid}/fd/${MARK_DESCRIPTOR}`, { bigint: true })
    return ids.some(({ device, inode }) => device === dev && inode === ino)
  } catch {
    return false
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}
