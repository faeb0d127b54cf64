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
import { closePipes, openInput, openPipes, type Pipe } from './pipes.js'
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
  /** null: it is there already, or there is none. */
  readonly stdin: Writable | null
}

/** Its ends of the streams; null where Node makes them. */
interface Ends {
  readonly pipes: readonly Pipe[] | null
  readonly input: number | null
}

/** `beforehand` is called right before the start. The error says why it could not be started. */
export async function spawnCommand(command: Command, beforehand: () => void): Promise<Spawned | Error> {
  const pipes = await openPipes(2)
  if (command.signal.aborted) {
    closePipes(pipes ?? [])
    return new Error('it was called off before it was started', { cause: command.signal.reason })
  }
  const input = command.stdin === undefined || pipes === null ? null : openInput(command.stdin)
  beforehand()
  const child = spawnChild(command, { pipes, input })
  for (const { theirs } of pipes ?? []) closeSync(theirs)
  if (input !== null) closeSync(input)
  if (child instanceof Error || child.pid === undefined) {
    for (const { ours } of pipes ?? []) closeSync(ours)
    return explainSpawnError(command, child instanceof Error ? child : await errorOf(child))
  }
  const stdout = readerOf(pipes?.[0]) ?? child.stdout
  const stderr = readerOf(pipes?.[1]) ?? child.stderr
  return {
    pid: child.pid,
    exit: exitOf(child),
    stdout: stdout as Readable,
    stderr: stderr as Readable,
    stdin: child.stdin,
  }
}

function spawnChild(command: Command, { pipes, input }: Ends): ChildProcess | Error {
  const [program = '', ...args] = command.argv
  const stdin = command.stdin === undefined ? 'ignore' : (input ?? 'pipe')
  const stdio: StdioOptions = [stdin, pipes?.[0]?.theirs ?? 'pipe', pipes?.[1]?.theirs ?? 'pipe']
  const env = { ...command.env, REPRISE_TAG: command.tag, [PARENT_NAME]: PARENT_VALUE }
  try {
    return spawn(program, args, { cwd: command.cwd, env, detached: true, stdio })
  } catch (error) {
    return error as Error
  }
}

async function errorOf(child: ChildProcess): Promise<unknown> {
  const [error] = (await once(child, 'error')) as [unknown]
  return error
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => child.once('exit', (exitCode, signal) => resolve({ exitCode, signal })))
}

function readerOf(pipe: Pipe | undefined): Readable | null {
  return pipe === undefined ? null : new Socket({ fd: pipe.ours, readable: true, writable: false })
}
