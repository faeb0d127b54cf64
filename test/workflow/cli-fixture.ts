/**
 * A directory with a workflow, and the command line as a process of its own: run to its end, or killed on the way. Steps
 * note in files that they ran, so that what happened is known from outside. The store is a file in it, or a schema of its
 * own on a server: see `keepIn`. Imports Node, the library and the program.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Ledger, LedgerError, openLedger } from 'reprise/durable'
import type { RunDetail } from '@reprise/workflow/internal'
import { repriseInProcess } from './cli-in-process.js'

export const root = fileURLToPath(new URL('../../', import.meta.url))
export const bin = path.join(root, 'packages/cli/bin/reprise.js')

/** Without the variables that change how it looks, or that a run around this one has set. */
const plainEnv = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(NO_COLOR|CI|FORCE_COLOR|REPRISE_.*)$/.test(name)),
)

let database: string | undefined

/** Every fixture from here on has its store in this database, in a schema of its own; undefined: in a file. */
export function keepIn(url: string | undefined): void {
  database = url
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Going {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** What it has said so far, on both streams. */
  said(): string
}

export class CliFixture {
  readonly directory: string
  readonly living = new Set<ChildProcess>()
  /** In the environment of everything that is started here, directly or not. */
  readonly mark = `REPRISE_FIXTURE=${randomUUID()}`
  env: Record<string, string> = {}
  /** The address of its store. */
  readonly store: string

  constructor(workflow?: string) {
    this.directory = mkdtempSync(path.join(tmpdir(), 'reprise-workflow-'))
    const schema = `fixture_${randomBytes(6).toString('hex')}`
    this.store = database === undefined ? `sqlite:${this.path('.reprise/ledger.db')}` : `${database}?schema=${schema}`
    if (database !== undefined) this.env['REPRISE_STORE'] = this.store
    if (workflow !== undefined) this.write('workflow.yaml', workflow)
  }

  write(name: string, text: string | Uint8Array): string {
    writeFileSync(this.path(name), text)
    return name
  }

  append(name: string, text: string): void {
    appendFileSync(this.path(name), text)
  }

  path(name: string): string {
    return path.join(this.directory, name)
  }

  has(name: string): boolean {
    return existsSync(this.path(name))
  }

  read(name: string): string {
    return this.has(name) ? readFileSync(this.path(name), 'utf8') : ''
  }

  /** How often something noted its line. */
  count(name: string): number {
    return this.read(name).split('\n').filter(Boolean).length
  }

  start(...args: string[]): Going {
    return this.startProgram(process.execPath, [bin, ...args])
  }

  /** Any program, such as one that starts the command line in its turn. */
  startProgram(program: string, args: readonly string[]): Going {
    const [variable = '', value = ''] = this.mark.split('=')
    const child = spawn(program, args, {
      cwd: this.directory,
      env: { ...plainEnv, ...this.env, [variable]: value },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.living.add(child)
    const written = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const)
      child[name]?.setEncoding('utf8').on('data', (text: string) => (written[name] += text))
    const ended = new Promise<Ended>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, signal) => {
        this.living.delete(child)
        resolve({ code, signal, ...written })
      })
    })
    return { child, ended, said: () => written.stdout + written.stderr }
  }

  reprise(...args: string[]): Promise<Ended> {
    return this.start(...args).ended
  }

  /** Started, and killed as soon as `when` is true. */
  async killed(args: string[], when: () => boolean | Promise<boolean>): Promise<void> {
    const going = await this.startUntil(args, when)
    going.child.kill('SIGKILL')
    await going.ended
  }

  /** Started, and come so far that `when` is true. */
  async startUntil(args: readonly string[], when: () => boolean | Promise<boolean>): Promise<Going> {
    const going = this.start(...args)
    await until(when, () => `${args.join(' ')} to come so far; it said ${going.said()}`, going)
    return going
  }

  /** Whether a step of r1 waits after so many failures. */
  async waits(step: string, failures: number): Promise<boolean> {
    if (!(await this.isKept())) return false
    return this.ledger(async (ledger) => {
      const task = await ledger.get({ scopeKind: 'run', scope: 'r1', id: step })
      return task?.status === 'waiting' && task.progress.retry.failures === failures
    })
  }

  /** Whether there is a store yet. */
  async isKept(): Promise<boolean> {
    try {
      await (await openLedger(this.store, { create: false })).close()
      return true
    } catch (error) {
      if (error instanceof LedgerError && error.problem === 'missing') return false
      throw error
    }
  }

  /** As the command line shows it; not by a process of its own, since much is looked at. */
  async show(run: string): Promise<RunDetail> {
    const { code, stdout, stderr } = await repriseInProcess(this, 'show', run, '--json')
    if (code !== 0) throw new Error(`show ended with ${code}: ${stdout}${stderr}`)
    return JSON.parse(stdout) as RunDetail
  }

  /** Each start of each attempt of a step of r1: number, execution, how it ended. */
  async historyOf(step: string): Promise<unknown[]> {
    const { steps } = await this.show('r1')
    const history = steps.find(({ id }) => id === step)?.history ?? []
    return history.map(({ attempt, execution, outcome }) => [attempt, execution, outcome])
  }

  async ledger<T>(act: (ledger: Ledger) => Promise<T>): Promise<T> {
    const ledger = await openLedger(this.store)
    try {
      return await act(ledger)
    } finally {
      await ledger.close()
    }
  }

  /** Processes of this fixture that still run. */
  left(): string[] {
    return runningWith(this.mark)
  }

  /** Nothing of what was started is there any more; what was killed may take a moment to go. */
  async isClean(): Promise<void> {
    await until(
      () => this.left().length === 0,
      () => `everything to be gone; left are ${this.left().join(', ')}`,
    )
  }

  remove(): void {
    for (const child of this.living) child.kill('SIGKILL')
    for (const one of this.left()) killQuietly(Number.parseInt(one, 10))
    rmSync(this.directory, { recursive: true, force: true })
  }
}

/** Runs `workflow.yaml` as r1 in a process that kills itself when it is told of this event, which is after its commit. */
export async function killedAt(cli: CliFixture, type: string, step: string): Promise<void> {
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href
  const args = ['--conditions=reprise-source', '--import', tsx, path.join(root, 'test/workflow/kill-at.ts')]
  const child = spawn(process.execPath, [...args, 'workflow.yaml', 'r1', type, step], {
    cwd: cli.directory,
    env: { ...plainEnv, REPRISE_STORE: cli.store },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const signal = await new Promise((resolve) => child.once('close', (_code, by) => resolve(by)))
  if (signal !== 'SIGKILL') throw new Error(`The run never came to ${type} of ${step}`)
}

/** `PID program` of all that have the entry in their environment, where the system tells. */
function runningWith(entry: string): string[] {
  if (!existsSync('/proc/self/environ')) return []
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid) || !readQuietly(`/proc/${pid}/environ`).split('\0').includes(entry)) return []
    return [`${pid} ${readQuietly(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').slice(0, 100)}`]
  })
}

/** What has ended meanwhile, and what has not been waited for by its parent, says nothing. */
function readQuietly(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // Gone.
  }
}

/** Waits until it is true; fails after so long that it never will be. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: () => string,
  going?: Going,
): Promise<void> {
  const endMs = performance.now() + 25_000
  while (!(await condition())) {
    if (going !== undefined && going.child.exitCode !== null) throw new Error(`It ended before: ${what()}`)
    if (performance.now() > endMs) throw new Error(`Waited in vain for ${what()}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
