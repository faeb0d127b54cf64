/**
 * A small process that starts programs for this one. To start a program, the system copies the page tables of the process
 * that asks, and then each page that this process writes; Node starts programs in no other way. A process with a run in it
 * has written much more memory than an empty one. The spawner takes 50 ms to start, so it is started after some dozens of
 * programs, beside the work.
 *
 * Invariants: what it starts is the same as if this process had started it, but for the parent: same arguments, environment,
 * directory, group, session, pipes and mark. It has the mark of this process, so that the keeper ends it too, and it starts
 * nothing once this process is gone. A program that was asked for and of which nothing was heard is never started again. If the
 * spawner dies, its programs are killed, and this process starts the next ones itself.
 * Imports Node, the keeper's mark and the search for what is left.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import path from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { MARK_DESCRIPTOR } from './descriptor-mark.js'
import { send } from './end-tree.js'
import { PARENT_MARK } from './keeper.js'
import { SPAWNER_PROGRAM } from './spawner-program.js'

/** Its own start costs as much as is saved with so many programs. */
const WORTH_IT = 40
/** One that does not end by itself. */
const END_WAIT_MS = 2000
/** Little memory, and few threads. */
const FLAGS = ['--max-semi-space-size=1', '--single-threaded-gc', '--v8-pool-size=0']

/** An open file of this process, and how the program has it; null: nothing. */
export type SpawnEnd = readonly [descriptor: number, mode: 'r' | 'w'] | null

interface SpawnRequest {
  readonly argv: readonly string[]
  readonly file: string | undefined
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** From descriptor 0 on. */
  readonly stdio: readonly SpawnEnd[]
}

interface SpawnedElsewhere {
  readonly pid: number
  readonly exit: Promise<{ readonly exitCode: number | null; readonly signal: string | null }>
}

interface Asked {
  pid: number | null
  readonly started: (spawned: SpawnedElsewhere | Error | 'unknown') => void
  readonly exited: (exitCode: number | null, signal: string | null) => void
  readonly exit: SpawnedElsewhere['exit']
}

/** Only where programs of this process are Node itself: other ones take their arguments for something else. */
const IS_NODE = /^node(?:js)?$/.test(path.basename(process.execPath)) && process.versions['electron'] === undefined

class Spawner {
  private child: ChildProcess | null = null
  private isReady = false
  private isOfUse = process.platform === 'linux' && IS_NODE && isMainThread
  private count = 0
  private next = 0
  private base: Readonly<Record<string, string>> | null = null
  private rest = ''
  private readonly asked = new Map<number, Asked>()

  /** Whether it can be asked now. Called for each program: where there are many, it is started meanwhile. */
  isThere(): boolean {
    if (this.isOfUse && this.child === null && ++this.count >= WORTH_IT) this.begin()
    return this.isReady
  }

  /** `unknown`: it has died before it answered, and the program may run. */
  spawn({ argv, file, cwd, env, stdio }: SpawnRequest): Promise<SpawnedElsewhere | Error | 'unknown'> {
    const id = ++this.next
    // Environments of programs are nearly the same: only what differs from that of the first one is written.
    if (this.base === null) this.tell({ base: env })
    const base = (this.base ??= env)
    const set = Object.fromEntries(Object.entries(env).filter(([name, value]) => base[name] !== value))
    const gone = Object.keys(base).filter((name) => env[name] === undefined)
    return new Promise((started) => {
      let exited: Asked['exited'] = () => undefined
      const exit: SpawnedElsewhere['exit'] = new Promise((resolve) => {
        exited = (exitCode, signal) => resolve({ exitCode, signal })
      })
      this.asked.set(id, { pid: null, started, exited, exit })
      this.hold()
      this.tell({ id, argv, cwd, set, gone, stdio, ...(file !== undefined && { file }) })
    })
  }

  /** Waits until it has ended, unless it is still of use to somebody. */
  async close(): Promise<void> {
    this.count = 0
    const { child } = this
    if (child === null || this.asked.size > 0) return
    this.child = null
    this.isReady = false
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    const timer = setTimeout(() => child.kill('SIGKILL'), END_WAIT_MS)
    child.ref()
    child.stdin?.end()
    await ended
    clearTimeout(timer)
  }

  private begin(): void {
    const [name = '', value = ''] = PARENT_MARK.split('=')
    const env = { PATH: process.env['PATH'] ?? '/usr/bin:/bin', [name]: value }
    const args = [...FLAGS, '-e', SPAWNER_PROGRAM, String(MARK_DESCRIPTOR)]
    const child = spawn(process.execPath, args, { cwd: '/', detached: true, env, stdio: ['pipe', 'pipe', 'ignore'] })
    this.child = child
    this.rest = ''
    this.base = null
    child.once('error', () => this.lose(child))
    child.once('exit', () => this.lose(child))
    child.stdin?.on('error', () => undefined)
    child.stdout?.on('error', () => undefined)
    child.stdout?.setEncoding('utf8').on('data', (text: string) => this.hear(child, text))
    child.unref()
    this.hold()
  }

  private hear(child: ChildProcess, text: string): void {
    const lines = (this.rest + text).split('\n')
    this.rest = lines.pop() ?? ''
    for (const line of lines) this.answer(child, line)
    this.hold()
  }

  private answer(child: ChildProcess, line: string): void {
    const [verb, id, first = '', ...words] = line.split(' ')
    if (verb === 'r') {
      if (child === this.child) this.isReady = true
      return
    }
    const asked = this.asked.get(Number(id))
    if (asked === undefined) return
    if (verb === 's') {
      asked.pid = Number(first)
      asked.started({ pid: asked.pid, exit: asked.exit })
      return
    }
    this.asked.delete(Number(id))
    if (verb === 'f') return asked.started(Object.assign(new Error(words.join(' ')), { code: first }))
    const [signal = ''] = words
    asked.exited(first === '' ? null : Number(first), signal === '' ? null : signal)
  }

  /** It has died, and nobody will say any more how its programs end. */
  private lose(child: ChildProcess): void {
    if (this.child === child) {
      this.child = null
      this.isReady = false
      this.isOfUse = false
    }
    for (const [id, { pid, started, exited }] of this.asked) {
      this.asked.delete(id)
      if (pid !== null) send(-pid, 'SIGKILL')
      started('unknown')
      exited(null, 'SIGKILL')
    }
  }

  private tell(message: object): void {
    this.child?.stdin?.write(`${JSON.stringify(message)}\n`)
  }

  /** Holds the event loop while programs run, as a child of this process would. */
  private hold(): void {
    const streams = [this.child?.stdin, this.child?.stdout] as unknown as { ref(): void; unref(): void }[]
    for (const stream of streams) if (this.asked.size > 0) stream?.ref()
    for (const stream of streams) if (this.asked.size === 0) stream?.unref()
  }
}

export const spawner = new Spawner()
