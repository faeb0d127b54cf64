/**
 * What is wrong with a file or directory of the state, and what to do about it. Imports Node's types and the errors of the
 * library.
 */
import { RepriseError } from 'reprise'

declare module 'reprise' {
  interface ErrorByCode {
    state: StateError
  }
}

/** A file or directory of the state cannot be used. */
export class StateError extends RepriseError {
  declare readonly code: 'state'
  /** The file or directory. */
  readonly path: string
  /** What to do about it. */
  readonly cure: string
  /** The word of the system, such as `ENOSPC`, if it refused. */
  declare readonly errno?: string

  constructor(path: string, problem: string, cure: string, cause?: unknown) {
    super('state', `${path} ${problem}: ${cure}`, cause === undefined ? undefined : { cause })
    this.path = path
    this.cure = cure
    const errno = (cause as NodeJS.ErrnoException | undefined)?.code
    if (errno !== undefined) this.errno = errno
  }

  override get name(): string {
    return 'StateError'
  }
}

const PROBLEMS: Readonly<Record<string, readonly [problem: string, cure: string]>> = {
  EACCES: ['cannot be used, this user has no permission', 'give the permission, or choose another directory'],
  EPERM: ['cannot be used, this user has no permission', 'give the permission, or choose another directory'],
  EROFS: ['is on a file system that is read-only', 'make it writable, or choose another directory'],
  ENOSPC: ['cannot be written, the disk is full', 'make room, then resume the run'],
  EDQUOT: ['cannot be written, the quota is used up', 'make room, then resume the run'],
  EIO: ['cannot be written, the disk fails', 'check the disk, then resume the run'],
  EFBIG: ['cannot grow, the limit of file sizes is reached', 'raise the limit (ulimit -f), then resume the run'],
  EMFILE: ['cannot be opened, too many files are open', 'raise the limit (ulimit -n), or run fewer at once'],
  ENFILE: ['cannot be opened, too many files are open on this machine', 'run fewer at once'],
  ELOOP: ['is a symbolic link', 'remove it; what it leads to is not touched'],
  ENXIO: ['is a pipe or a device, not a plain file', 'remove it'],
  EISDIR: ['is a directory, not a plain file', 'remove it'],
  ENOTDIR: ['is not a directory', 'remove it, or choose another directory'],
  ENAMETOOLONG: ['has too long a name', 'choose a shorter directory'],
}

/** What the system says about a path, in words. */
export function stateErrorOf(path: string, error: unknown): StateError {
  if (error instanceof StateError) return error
  const { code = '', message } = error as NodeJS.ErrnoException
  const [problem, cure] = PROBLEMS[code] ?? [`cannot be used (${message})`, 'check the directory, then try again']
  return new StateError(path, problem, cure, error)
}
