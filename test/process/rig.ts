/**
 * Runs commands and lists the processes they leave. Imports the workflow package's process runner.
 *
 * Tests run in worker threads, where commands use Node's own pipes. A test that needs a main thread, or a process to
 * kill, starts a program of its own (`main-thread.ts`).
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { it } from 'vitest'
import type { Command, CommandEnd } from '../../packages/workflow/src/process/command.js'
import { listProcesses, type ProcessRow } from '../../packages/workflow/src/process/process-table.js'
import { runCommand } from '../../packages/workflow/src/process/run-command.js'

export const hasProc = process.platform === 'linux'
export const isRoot = process.getuid?.() === 0
export const has = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

/** Runs the test, or skips it and says what it would need. */
export function itWhere(possible: boolean, need: string, name: string, test: () => Promise<void>): void {
  it.skipIf(!possible)(possible ? name : `${name} (skipped: needs ${need})`, { timeout: 60_000 }, test)
}

let count = 0
/** Unique to one command. */
export const newTag = (): string => `test-${process.pid}-${Date.now().toString(36)}/${++count}`

function commandOf(argv: readonly string[], change: Partial<Command> = {}): Command {
  return {
    argv,
    env: { PATH: process.env['PATH'] ?? '' },
    cwd: tmpdir(),
    tag: newTag(),
    signal: new AbortController().signal,
    graceMs: 5000,
    keepStdoutBytes: 1024 * 1024,
    onOutput: () => undefined,
    ...change,
  }
}

export const run = (argv: readonly string[], change: Partial<Command> = {}): Promise<CommandEnd> =>
  runCommand(commandOf(argv, change))
export const shell = (text: string, change: Partial<Command> = {}): Promise<CommandEnd> =>
  run(['sh', '-c', text], change)

export interface Started {
  readonly end: Promise<CommandEnd>
  readonly stop: AbortController
  /** The processes whose pids it has printed, in order. */
  readonly processes: readonly ProcessRow[]
  readonly command: Command
}

/** Starts a shell that prints pids, and waits until `pids` of them are printed. */
export async function startTree(text: string, pids: number, change: Partial<Command> = {}): Promise<Started> {
  const stop = new AbortController()
  let said = ''
  const onOutput = (_: string, bytes: Uint8Array): void => void (said += Buffer.from(bytes).toString())
  const command = commandOf(['sh', '-c', text], { signal: stop.signal, onOutput, ...change })
  const end = runCommand(command)
  await waitFor(() => printed(said).length >= pids)
  return { end, stop, processes: await rowsOf(printed(said)), command }
}

export const printed = (text: string): number[] => [...text.matchAll(/^(\d+)\n/gm)].map(([, pid]) => Number(pid))

export async function rowsOf(pids: readonly number[]): Promise<ProcessRow[]> {
  const rows = new Map((await listProcesses()).map((row) => [row.pid, row]))
  return pids.map((pid) => {
    const row = rows.get(pid)
    if (row === undefined) throw new Error(`Process ${pid} is not there`)
    return row
  })
}

/** The pids of the given processes that still run. */
export async function living(processes: readonly ProcessRow[]): Promise<number[]> {
  const rows = new Map((await listProcesses()).map((row) => [row.pid, row.start]))
  return processes.filter(({ pid, start }) => rows.get(pid) === start).map(({ pid }) => pid)
}

export async function waitFor(isSo: () => boolean | Promise<boolean>, mostMs = 30_000): Promise<void> {
  const until = Date.now() + mostMs
  while (!(await isSo())) {
    if (Date.now() > until) throw new Error(`Not true after ${mostMs} ms: ${isSo.toString()}`)
    await sleep(10)
  }
}

export function kill(processes: readonly { readonly pid: number }[]): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended already.
    }
  }
}

export function temporaryDirectory(): { readonly path: string; remove(): void } {
  const directory = mkdtempSync(path.join(tmpdir(), 'reprise-process-'))
  return { path: directory, remove: () => rmSync(directory, { recursive: true, force: true }) }
}

export interface Program {
  readonly child: ChildProcess
  /** What it has printed so far. */
  readonly said: () => string
  readonly ended: Promise<number | string | null>
}

/** A program beside this file, on a main thread of its own. */
export function startProgram(name: string, ...args: readonly string[]): Program {
  const file = fileURLToPath(new URL(name, import.meta.url))
  const options = ['--conditions=reprise-source', '--import', 'tsx', file, ...args]
  const child = spawn(process.execPath, options, { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.on('data', (bytes: Buffer) => (text += bytes.toString()))
  const ended = new Promise<number | string | null>((resolve) =>
    child.once('close', (code, signal) => resolve(signal ?? code)),
  )
  return { child, said: () => text, ended }
}
