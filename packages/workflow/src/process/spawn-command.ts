/**
 * Starts a program in a group and session of its own, with pipes of ours and marks in its environment. Imports Node and
 * the parts of this directory.
 */
import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import type { Command } from './command.js'
import { PARENT_MARK } from './keeper.js'
import { closePipes, openPipes, type Pipe } from './pipes.js'
import { explainSpawnError } from './spawn-error.js'

const [PARENT_NAME = '', PARENT_VALUE = ''] = PARENT_MARK.split('=')

export interface Exit {
  readonly exitCode: number | null
  readonly signal: string | null
}

export interface Spawned {
  readonly pid: number
  /** Of the program itself, whoever holds its pipes. */
  readonly exit: Promise<Exit>
  readonly stdout: Readable
  readonly stderr: Readable
  /** null: it reads nothing. */
  readonly stdin: Writable | null
}

/** `beforehand` is called right before the start. The error says why it could not be started. */
export async function spawnCommand(command: Command, beforehand: () => void): Promise<Spawned | Error> {
  const hasInput = command.stdin !== undefined
  const pipes = await openPipes(hasInput ? ['out', 'out', 'in'] : ['out', 'out'])
  if (command.signal.aborted) {
    closePipes(pipes ?? [])
    return new Error('it was called off before it was started', { cause: command.signal.reason })
  }
  beforehand()
  const child = spawnChild(command, pipes, hasInput)
  if (child instanceof Error) {
    closePipes(pipes ?? [])
    return explainSpawnError(command, child)
  }
  for (const { theirs } of pipes ?? []) closeSync(theirs)
  if (child.pid === undefined) {
    for (const { ours } of pipes ?? []) closeSync(ours)
    const [error] = (await once(child, 'error')) as [unknown]
    return explainSpawnError(command, error)
  }
  return { pid: child.pid, exit: exitOf(child), ...(pipes === null ? ownStreams(child) : streamsOf(pipes)) }
}

function spawnChild(command: Command, pipes: readonly Pipe[] | null, hasInput: boolean): ChildProcess | Error {
  const [program = '', ...args] = command.argv
  const stdio: StdioOptions =
    pipes === null
      ? [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe']
      : [pipes[2]?.theirs ?? 'ignore', pipes[0]?.theirs, pipes[1]?.theirs]
  const env = { ...command.env, REPRISE_TAG: command.tag, [PARENT_NAME]: PARENT_VALUE }
  try {
    return spawn(program, args, { cwd: command.cwd, env, detached: true, stdio })
  } catch (error) {
    return error as Error
  }
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => child.once('exit', (exitCode, signal) => resolve({ exitCode, signal })))
}

function streamsOf([stdout, stderr, stdin]: readonly Pipe[]): Pick<Spawned, 'stdout' | 'stderr' | 'stdin'> {
  return {
    stdout: readerOf(stdout),
    stderr: readerOf(stderr),
    stdin: stdin === undefined ? null : new Socket({ fd: stdin.ours, readable: false, writable: true }),
  }
}

function readerOf(pipe: Pipe | undefined): Readable {
  return new Socket({ fd: pipe?.ours ?? -1, readable: true, writable: false })
}

function ownStreams({ stdin, stdout, stderr }: ChildProcess): Pick<Spawned, 'stdout' | 'stderr' | 'stdin'> {
  return { stdin, stdout: stdout as Readable, stderr: stderr as Readable }
}
