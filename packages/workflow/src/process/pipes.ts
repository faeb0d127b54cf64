/**
 * Pipes of the system. What Node calls a pipe is a socket on Linux, and there `echo oops > /dev/stderr` or
 * `tee /dev/stdout` fails, which scripts do all the time. So named pipes are made, some at a time by `mkfifo`, opened, and
 * removed at once: from then on they are as anonymous as any.
 *
 * Invariants: where it cannot be done (other systems, no `mkfifo`, no place for it) the answer is null, and Node's own
 * are good enough. Ends that a program gets are blocking, as programs expect; ours are not. The directory is ours alone,
 * and the keeper removes it when this process is gone. Imports the keeper.
 */
import { execFile } from 'node:child_process'
import { accessSync, closeSync, constants, mkdtempSync, openSync, unlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { keeper } from './keeper.js'

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants
/** Made at once, first and later: one process for many pipes. */
const FIRST_BATCH = 32
const BATCH = 256
/** With fewer left, more are made before somebody has to wait. */
const FEW = 16

export interface Pipe {
  /** Ours: not blocking. */
  readonly ours: number
  /** The program's: blocking; to be closed here when the program has it. */
  readonly theirs: number
}

let directory: string | null = null
let made = 0
let names: string[] = []
let making: Promise<void> | null = null
let isImpossible = process.platform !== 'linux'

/** One for each word: `in` is read by the program, `out` is written by it. */
export async function openPipes(directions: readonly ('in' | 'out')[]): Promise<Pipe[] | null> {
  for (let tries = 0; tries < 2 && !isImpossible; tries++) {
    while (names.length < directions.length && !isImpossible) await (making ??= makeNames())
    const pipes = openAll(directions)
    if (names.length < FEW) making ??= makeNames()
    if (pipes !== null) return pipes
    // Somebody has cleaned up: a new directory, once.
    directory = null
    names = []
  }
  return null
}

function openAll(directions: readonly ('in' | 'out')[]): Pipe[] | null {
  const pipes: Pipe[] = []
  try {
    for (const direction of directions) pipes.push(openOne(names.pop() ?? '', direction))
    return pipes
  } catch {
    closePipes(pipes)
    return null
  }
}

export function closePipes(pipes: readonly Pipe[]): void {
  for (const { ours, theirs } of pipes) {
    closeSync(ours)
    closeSync(theirs)
  }
}

/** A reader that does not block comes first: then nobody waits for the other side. */
function openOne(file: string, direction: 'in' | 'out'): Pipe {
  const opened = [openSync(file, O_RDONLY | O_NONBLOCK)]
  try {
    const [reader = -1] = opened
    const writer = openSync(file, direction === 'out' ? O_WRONLY : O_WRONLY | O_NONBLOCK)
    opened.push(writer)
    if (direction === 'out') {
      unlinkSync(file)
      return { ours: reader, theirs: writer }
    }
    const blocking = openSync(file, O_RDONLY)
    opened.push(blocking)
    unlinkSync(file)
    closeSync(reader)
    return { ours: writer, theirs: blocking }
  } catch (error) {
    for (const fd of opened) closeSync(fd)
    throw error
  }
}

async function makeNames(): Promise<void> {
  try {
    directory ??= makeDirectory()
    const files = Array.from({ length: made === 0 ? FIRST_BATCH : BATCH }, () =>
      path.join(directory ?? '', String(++made)),
    )
    await new Promise<void>((resolve, reject) => {
      execFile('mkfifo', ['-m', '600', ...files], (error) => (error === null ? resolve() : reject(error)))
    })
    names.push(...files)
  } catch {
    isImpossible = true
  } finally {
    making = null
  }
}

/** In memory if possible: on a disk a named pipe costs a millisecond. */
function makeDirectory(): string {
  // The keeper is told by lines.
  const places = ['/dev/shm', tmpdir()].filter((place) => isWritable(place) && !place.includes('\n'))
  if (places[0] === undefined) throw new Error('There is no place for pipes')
  const room = mkdtempSync(path.join(places[0], 'reprise-pipes-'))
  keeper.removeLater(room)
  return room
}

function isWritable(place: string): boolean {
  try {
    accessSync(place, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}
