/**
 * Real processes on real files that fail: a program bundled once, a directory per test, and what the ledger and the
 * program's own notes say afterwards. Imports sources.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { openSqlite } from '../../packages/reprise/src/sqlite/open-sqlite.js'
import { faultsOf, scopeOfTasks, type Start } from '../crash/history.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** Of the program's policy. */
const ATTEMPTS = 4

/** How a process ended: its code or signal, and what it printed. */
export interface Ended {
  readonly code: number | string | null
  readonly said: string
}

export interface Started {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
}

/** The program as one file, inside the workspace, since that is where its driver is found. */
export async function bundleProgram(name: string): Promise<{ program: string; remove(): void }> {
  mkdirSync(path.join(root, 'node_modules/.cache'), { recursive: true })
  const directory = mkdtempSync(path.join(root, 'node_modules/.cache/reprise-faults-'))
  chmodSync(directory, 0o755)
  await build({
    input: { [name]: path.join(root, `test/faults/${name}.ts`) },
    platform: 'node',
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    output: { dir: directory, format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' },
  })
  return { program: path.join(directory, `${name}.mjs`), remove: () => rmSync(directory, { recursive: true }) }
}

export function start(command: readonly string[], options: { uid?: number; env?: NodeJS.ProcessEnv } = {}): Started {
  const [executable = '', ...args] = command
  const child = spawn(executable, args, { stdio: ['ignore', 'pipe', 'inherit'], ...options })
  let said = ''
  child.stdout.on('data', (data: Buffer) => (said += data.toString()))
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code: signal ?? code, said }))
  })
  return { child, ended }
}

export class FaultFixture {
  readonly directory: string
  readonly logs: string
  file: string

  constructor() {
    this.directory = mkdtempSync(path.join(tmpdir(), 'reprise-faults-'))
    chmodSync(this.directory, 0o755)
    this.file = path.join(this.directory, 'ledger.db')
    this.logs = path.join(this.directory, 'log')
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true })
  }

  get acks(): { task: string; ended: string }[] {
    return linesOf(`${this.logs}.acks`)
  }

  /** All that the invariants and the acknowledgements say against the ledger as it is now. */
  async faults(finished: boolean, tasks?: number): Promise<string[]> {
    const ledger = await openSqlite(this.file)
    try {
      const starts = linesOf<Start>(`${this.logs}.starts`)
      const faults = await faultsOf(ledger, scopeOfTasks('work'), starts, { attempts: ATTEMPTS, finished })
      const found = await ledger.list({ scopeKind: 'task', scope: 'work' })
      if (tasks !== undefined && found.length !== tasks) faults.push(`${found.length} tasks of ${tasks}`)
      const states = new Map(found.map(({ id, status }) => [id, status as string]))
      for (const { task, ended } of this.acks)
        if (states.get(task) !== ended) faults.push(`${task} was acknowledged as ${ended}, and is ${states.get(task)}`)
      return faults
    } finally {
      await ledger.close()
    }
  }
}

function linesOf<T>(file: string): T[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line) as T)
}

/** Whether a command works here; tests that need it say so when they are skipped. */
export function works(command: string, args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** Waits for what another process does: as long as a busy machine may need to start it. */
export async function waitFor(condition: () => boolean, what: string): Promise<void> {
  const endMs = performance.now() + 25_000
  while (!condition()) {
    if (performance.now() > endMs) throw new Error(`${what}: it did not come true`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
