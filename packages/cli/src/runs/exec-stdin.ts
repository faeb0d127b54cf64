/**
 * Stdin for the attempts of `exec`. A file is opened again for each attempt. A terminal and /dev/null are inherited. A pipe
 * or socket can be read only once, so its bytes are kept in a file, unless there is only one attempt.
 * Imports Node, the workflow package and process IO.
 *
 * Invariant: `io.stdin` is touched only where it is kept: Node makes a pipe non-blocking, which programs do not expect.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, type Stats } from 'node:fs'
import { tmpdir } from 'node:os'
import { isatty } from 'node:tty'
import { type AttemptInput, StdinSpool } from '@reprise/workflow/internal'
import type { ProcessIo } from '../process-io.js'

/** An input that is there already is known to have ended by then. */
const SHORT_MS = 25
const SKIP_BYTES = 1024 * 1024

export interface ExecStdin {
  readonly open: () => Promise<AttemptInput>
  /** When no attempt reads any more. */
  readonly close: () => Promise<void>
}

/** undefined: there is nothing to read. */
export async function stdinOfExec(io: ProcessIo, mayRetry: boolean): Promise<ExecStdin | undefined> {
  const kind = kindOfStdin(io)
  if (kind === 'none') return undefined
  const descriptor = io.stdinDescriptor
  if (descriptor !== undefined) {
    if (kind === 'shared' || !mayRetry) return shared(descriptor)
    if (kind === 'file') {
      const file = reopening(descriptor)
      if (file !== undefined) return file
    }
  }
  return spooled(io)
}

/**
 * `shared`: every attempt can read it as it is. `file`: it can be opened again. `once`: a pipe or a socket, read once.
 */
export type StdinKind = 'none' | 'shared' | 'file' | 'once'

export function kindOfStdin({ stdinDescriptor: descriptor }: ProcessIo): StdinKind {
  if (descriptor === undefined) return 'once'
  const stats = statsOf(descriptor)
  if (stats === undefined) return 'none'
  if (isatty(descriptor)) return isInBackground() ? 'none' : 'shared'
  if (stats.isFile()) return 'file'
  return stats.isFIFO() || stats.isSocket() ? 'once' : 'shared'
}

/** Whether an input that comes once has ended without a byte. Reads from it: it can be given to no command afterwards. */
export async function hasEndedEmpty({ stdin }: ProcessIo, mostMs: number): Promise<boolean> {
  const next = stdin[Symbol.asyncIterator]().next()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), mostMs)))
  const first = await Promise.race([next.catch(() => undefined), late])
  clearTimeout(timer)
  stdin.destroy?.()
  return first?.done === true
}

function shared(descriptor: number): ExecStdin {
  return {
    open: () => Promise.resolve({ input: { descriptor }, close: () => undefined }),
    close: () => Promise.resolve(),
  }
}

/** From where it stands now, which need not be its beginning. undefined where the system does not tell. */
function reopening(descriptor: number): ExecStdin | undefined {
  try {
    const position = Number(/^pos:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1])
    // A file that may not be opened again is found out now.
    closeSync(openAt(descriptor, position))
    const open = (): Promise<AttemptInput> => {
      const own = openAt(descriptor, position)
      return Promise.resolve({ input: { descriptor: own }, close: () => closeSync(own) })
    }
    return { open, close: () => Promise.resolve() }
  } catch {
    return undefined
  }
}

/** Node cannot seek; what stands before is read. */
function openAt(descriptor: number, position: number): number {
  const own = openSync(`/proc/self/fd/${descriptor}`, constants.O_RDONLY)
  const buffer = Buffer.allocUnsafe(Math.min(SKIP_BYTES, position))
  for (let at = 0; at < position; ) {
    const length = readSync(own, buffer, 0, Math.min(buffer.length, position - at), null)
    if (length === 0) break
    at += length
  }
  return own
}

async function spooled({ stdin }: ProcessIo): Promise<ExecStdin> {
  const spool = new StdinSpool(stdin, { directory: tmpdir() })
  await spool.awaitShort(SHORT_MS)
  return {
    open: () => spool.open(),
    close: async () => {
      stdin.destroy?.()
      await spool.close()
    },
  }
}

function statsOf(descriptor: number): Stats | undefined {
  try {
    return fstatSync(descriptor)
  } catch {
    return undefined
  }
}

/**
 * A command has a session of its own, so the system does not stop it when it reads a terminal in the background: it would
 * take what is typed for the shell. Known on Linux only.
 */
function isInBackground(): boolean {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    const [group, foreground] = [fields[2], fields[5]]
    return foreground !== '-1' && group !== foreground
  } catch {
    return false
  }
}
