/**
 * Pipes of the system. What Node calls a pipe is a socket on Linux, and there `echo oops > /dev/stderr` or
 * `tee /dev/stdout` fails, which scripts do all the time. So named pipes are made, some at a time by the keeper, opened, and
 * removed at once: from then on they are as anonymous as any. A text that a program reads is a file, removed at once too: a
 * named pipe could not be opened again (`cat /dev/stdin`) once all was written. Input that is still being made is a pipe.
 *
 * Invariants: where it cannot be done (other systems, worker threads, no `mkfifo`, no place for it) the answer is null, and Node's own
 * are good enough. Ends that a program gets are blocking, as programs expect; ours are not. Input is kept in memory only,
 * since it may be secret. The directory is ours alone, and the keeper removes it when this process is gone.
 * Imports the keeper.
 */
import { accessSync, closeSync, constants, mkdtempSync, openSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { keeper } from './keeper.js'

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants
const MEMORY = '/dev/shm'
/** Made at once, first and later. */
const FIRST_BATCH = 32
const BATCH = 256
/** With fewer left, more are made before somebody has to wait. */
const FEW = 16

export interface Pipe {
  /** Read here: not blocking. */
  readonly ours: number
  /** Written by the program: blocking; to be closed here when the program has it. */
  readonly theirs: number
}

let directory: string | null = null
let made = 0
let names: string[] = []
let making: Promise<void> | null = null
/** Files that a worker thread has opened are closed when it ends, though a stream has closed them long before. */
let isImpossible = process.platform !== 'linux' || !isMainThread

/** Has some made meanwhile, by whoever knows that they will be needed: making the first takes as long as a command. */
export function preparePipes(): void {
  if (!isImpossible && names.length === 0) making ??= makeNames()
}

export async function openPipes(count: number): Promise<Pipe[] | null> {
  for (let tries = 0; tries < 2 && !isImpossible; tries++) {
    while (names.length < count && !isImpossible) await (making ??= makeNames())
    const pipes = openAll(count)
    if (names.length < FEW) making ??= makeNames()
    if (pipes !== null) return pipes
    // Somebody has cleaned up: a new directory, once.
    directory = null
    names = []
  }
  return null
}

function openAll(count: number): Pipe[] | null {
  const pipes: Pipe[] = []
  try {
    while (pipes.length < count) pipes.push(openOne(names.pop() ?? ''))
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

/** The reader, which does not block, comes first: then the writer does not wait for it. */
function openOne(file: string): Pipe {
  const ours = openSync(file, O_RDONLY | O_NONBLOCK)
  try {
    const theirs = openSync(file, O_WRONLY)
    unlinkSync(file)
    return { ours, theirs }
  } catch (error) {
    closeSync(ours)
    throw error
  }
}

export interface InputPipe {
  /** Written here: not blocking. */
  readonly ours: number
  /** Read by the program: blocking; to be closed here when the program has it. */
  readonly theirs: number
}

/** null where there are none. */
export async function openInputPipe(): Promise<InputPipe | null> {
  while (names.length === 0 && !isImpossible) await (making ??= makeNames())
  const file = names.pop()
  if (file === undefined) return null
  let early: number | null = null
  let ours: number | null = null
  try {
    // A writer that does not block needs a reader, and a reader that blocks a writer: so there is one more at first.
    early = openSync(file, O_RDONLY | O_NONBLOCK)
    ours = openSync(file, O_WRONLY | O_NONBLOCK)
    return { ours, theirs: openSync(file, O_RDONLY) }
  } catch {
    if (ours !== null) closeSync(ours)
    return null
  } finally {
    if (early !== null) closeSync(early)
    removeQuietly(file)
  }
}

/** To be read by a program, from its beginning, and closed here when the program has it. */
export function openInput(text: string): number | null {
  if (directory === null || !directory.startsWith(MEMORY)) return null
  const file = path.join(directory, `in-${++made}`)
  try {
    writeFileSync(file, text, { mode: 0o600, flag: 'wx' })
    return openSync(file, O_RDONLY)
  } catch {
    return null
  } finally {
    removeQuietly(file)
  }
}

async function makeNames(): Promise<void> {
  try {
    directory ??= makeDirectory()
    // Should the keeper die meanwhile, the next one is asked.
    if (!(await makeSome(directory)) && !(await makeSome(directory))) throw new Error('There are no pipes')
  } catch {
    isImpossible = true
  } finally {
    making = null
  }
}

async function makeSome(place: string): Promise<boolean> {
  const count = made === 0 ? FIRST_BATCH : BATCH
  const first = made + 1
  made += count
  if (!(await keeper.makePipes(first, count))) return false
  for (let name = first; name < first + count; name++) names.push(path.join(place, String(name)))
  return true
}

/** In memory if possible: on a disk a named pipe costs a millisecond. */
function makeDirectory(): string {
  // The keeper is told by lines.
  const places = [MEMORY, tmpdir()].filter((place) => isWritable(place) && !place.includes('\n'))
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

function removeQuietly(file: string): void {
  try {
    unlinkSync(file)
  } catch {
    // It could not be made.
  }
}
