/**
 * Starts a program in a group and session of its own, with pipes of ours and marks in its environment. Imports Node and
 * the parts of this directory.
 */
import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { agentVariables } from './agent-mark.js'
import type { Command, CommandInput } from './command.js'
import { MARK_DESCRIPTOR } from './descriptor-mark.js'
import { PARENT_MARK } from './keeper.js'
import { closePipes, openInput, openInputPipe, openPipes, type Pipe } from './pipes.js'
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
  readonly input: number | 'ignore' | 'pipe'
  readonly mark: number | null
}

/** What it reads. */
interface OpenInput {
  readonly end: number | 'ignore' | 'pipe'
  /** Of `end`, when the program has it. */
  readonly close: () => void
  /** Our side, if it is one of ours. */
  readonly writer: number | null
}

/** `beforehand` is called right before the start. `mark`: a descriptor. The error says why it could not be started. */
export async function spawnCommand(
  command: Command,
  mark: number | null,
  beforehand: () => void,
): Promise<Spawned | Error> {
  const pipes = await openPipes(2)
  if (command.signal.aborted) {
    closePipes(pipes ?? [])
    return new Error('it was called off before it was started', { cause: command.signal.reason })
  }
  const input = await openStdin(command.stdin, pipes !== null)
  beforehand()
  const child = spawnChild(command, { pipes, input: input.end, mark })
  for (const { theirs } of pipes ?? []) closeSync(theirs)
  input.close()
  if (child instanceof Error || child.pid === undefined) {
    for (const { ours } of pipes ?? []) closeSync(ours)
    if (input.writer !== null) closeSync(input.writer)
    return explainSpawnError(command, child instanceof Error ? child : await errorOf(child))
  }
  const stdout = readerOf(pipes?.[0]) ?? child.stdout
  const stderr = readerOf(pipes?.[1]) ?? child.stderr
  return {
    pid: child.pid,
    exit: exitOf(child),
    stdout: stdout as Readable,
    stderr: stderr as Readable,
    stdin: input.writer === null ? child.stdin : new Socket({ fd: input.writer, readable: false, writable: true }),
  }
}

const NOTHING = (): void => undefined

async function openStdin(stdin: CommandInput | undefined, hasPipes: boolean): Promise<OpenInput> {
  if (stdin === undefined) return { end: 'ignore', close: NOTHING, writer: null }
  if (typeof stdin === 'object' && 'descriptor' in stdin) return { end: stdin.descriptor, close: NOTHING, writer: null }
  if (typeof stdin === 'string') {
    const file = hasPipes ? openInput(stdin) : null
    return { end: file ?? 'pipe', close: file === null ? NOTHING : () => closeSync(file), writer: null }
  }
  const pipe = hasPipes ? await openInputPipe() : null
  if (pipe === null) return { end: 'pipe', close: NOTHING, writer: null }
  return { end: pipe.theirs, close: () => closeSync(pipe.theirs), writer: pipe.ours }
}

function spawnChild(command: Command, { pipes, input, mark }: Ends): ChildProcess | Error {
  const [program = '', ...args] = command.argv
  const stdio: StdioOptions = [input, pipes?.[0]?.theirs ?? 'pipe', pipes?.[1]?.theirs ?? 'pipe']
  if (mark !== null) {
    while (stdio.length < MARK_DESCRIPTOR) stdio.push('ignore')
    stdio.push(mark)
  }
  const env = { ...command.env, ...agentVariables(), REPRISE_TAG: command.tag, [PARENT_NAME]: PARENT_VALUE }
  try {
    return spawn(command.file ?? program, args, { argv0: program, cwd: command.cwd, env, detached: true, stdio })
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
