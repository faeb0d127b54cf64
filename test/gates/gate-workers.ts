/**
 * Starts processes that share gates, tells them what to do and hears what came of it. Their program is bundled once, since
 * a start through a compiler costs a second. Imports Node and the plan.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type BundledProgram, bundleProgram } from '../bundled-program.js'
import type { Doing, KindName, Order, Said } from './plan.js'

export const bundleGateWorker = (): Promise<BundledProgram> => bundleProgram(new URL('gate-worker.ts', import.meta.url))

class GateWorker {
  readonly child: ChildProcess
  /** As the test wanted. */
  isKilled = false
  private errors = ''
  private readonly waiting: ((said: Said | Error | undefined) => void)[] = []

  constructor(child: ChildProcess) {
    this.child = child
    child.stderr?.on('data', (text: Buffer) => (this.errors += text.toString()))
    child.on('message', (said: Said) => this.waiting.shift()?.(said))
    child.once('close', (code, signal) => this.end(new Error(`A hand ended with ${signal ?? code}: ${this.errors}`)))
  }

  /** What it says next: it is told one thing at a time. Who is killed has nothing more to say. */
  next(order?: Order): Promise<Said | undefined> {
    const { exitCode, signalCode } = this.child
    if (exitCode !== null || signalCode !== null) throw new Error(`A hand is gone: ${this.errors}`)
    const answer = new Promise<Said | undefined>((resolve, reject) => {
      this.waiting.push((said) => (said instanceof Error ? reject(said) : resolve(said)))
    })
    if (order !== undefined) this.child.send(order)
    // Who asked hears of it, if he still listens.
    answer.catch(() => undefined)
    return answer
  }

  private end(error: Error): void {
    for (const tell of this.waiting.splice(0)) tell(this.isKilled ? undefined : error)
  }
}

export interface GateWorkersOptions {
  readonly processes: number
  /** So many ledgers are opened in each. */
  readonly each: number
}

export class GateWorkers {
  /** How many operations ran at once, as any of them saw it; by kind and what they do. */
  readonly peaks: Record<string, number> = {}
  private readonly workers: GateWorker[]
  private readonly directory: string
  private submitted = 0

  private constructor(workers: GateWorker[], directory: string) {
    this.workers = workers
    this.directory = directory
  }

  static async start(
    { file }: BundledProgram,
    address: string,
    { processes, each }: GateWorkersOptions,
  ): Promise<GateWorkers> {
    const directory = mkdtempSync(path.join(tmpdir(), 'reprise-gates-'))
    const workers = Array.from({ length: processes }, () => {
      const args = [file, address, directory, String(each)]
      return new GateWorker(spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'pipe', 'ipc'] }))
    })
    const all = new GateWorkers(workers, directory)
    try {
      await Promise.all(workers.map((worker) => worker.next()))
      return all
    } catch (error) {
      all.kill()
      throw error
    }
  }

  /** So many tasks, dealt out to all; answers with their ids once they are recorded. */
  async submit(kind: KindName, count: number, doing: Doing): Promise<string[]> {
    const ids = Array.from({ length: count }, () => `${kind}-${this.submitted++}`)
    const said = this.workers.map((worker, index) => {
      const own = ids.filter((_, place) => place % this.workers.length === index)
      return worker.next({ type: 'submit', kind, ids: own, doing })
    })
    this.hear(await Promise.all(said))
    return ids
  }

  /** Those that hold go on. */
  release(): void {
    for (const { child } of this.workers) child.send({ type: 'release' } satisfies Order)
  }

  async close(): Promise<void> {
    this.hear(await Promise.all(this.workers.map((worker) => worker.next({ type: 'close' }))))
    rmSync(this.directory, { recursive: true, force: true })
  }

  private hear(said: readonly (Said | undefined)[]): void {
    for (const one of said) {
      if (one === undefined || one.type === 'ready') continue
      for (const [what, peak] of Object.entries(one.peaks)) this.peaks[what] = Math.max(this.peaks[what] ?? 0, peak)
    }
  }

  /** Of those that live. */
  get pids(): readonly number[] {
    return this.workers.flatMap(({ child }) => child.pid ?? [])
  }

  /** By `kill -9`. Its marks go before, while it stands still: others may begin at once. */
  async killOne(pid: number): Promise<void> {
    const index = this.workers.findIndex(({ child }) => child.pid === pid)
    const [worker] = this.workers.splice(index, 1)
    if (index < 0 || worker === undefined) throw new Error(`There is no hand ${pid}`)
    worker.isKilled = true
    worker.child.kill('SIGSTOP')
    for (const name of readdirSync(this.directory))
      if (name.split(' ')[2] === String(pid)) rmSync(path.join(this.directory, name))
    const gone = new Promise((resolve) => worker.child.once('exit', resolve))
    worker.child.kill('SIGKILL')
    await gone
  }

  /** Whatever a failed test left. */
  kill(): void {
    for (const { child } of this.workers) child.kill('SIGKILL')
    rmSync(this.directory, { recursive: true, force: true })
  }
}
