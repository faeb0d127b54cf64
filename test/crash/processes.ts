/**
 * Starts processes of the load and ends them: the load is bundled once, since a start through a compiler costs a second.
 * Imports Node and the plan.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { bundleProgram } from '../bundled-program.js'
import { LEDGER_FAILED, type LoadPlan } from './load-plan.js'

export interface Program {
  readonly file: string
  readonly living: Set<ChildProcess>
  /** With whatever a failed test left running, or stopped. */
  remove(): void
}

export async function bundleLoad(): Promise<Program> {
  const bundled = await bundleProgram(new URL('load.ts', import.meta.url))
  const living = new Set<ChildProcess>()
  const remove = (): void => {
    for (const child of living) child.kill('SIGKILL')
    bundled.remove()
  }
  return { file: bundled.file, living, remove }
}

/** How a life ended: by itself, killed, or because its ledger failed, where that may be. */
export type End = 'ended' | 'killed' | 'failed'

export class LoadProcess {
  readonly child: ChildProcess
  /** It has opened the ledger; or it has ended. */
  readonly ready: Promise<void>
  readonly end: Promise<End>
  errors = ''
  private readonly mayFail: boolean

  constructor({ file, living }: Program, plan: LoadPlan) {
    const child = spawn(process.execPath, [file, JSON.stringify(plan)], { stdio: ['ignore', 'pipe', 'pipe'] })
    this.child = child
    this.mayFail = plan.mayFail ?? false
    living.add(child)
    child.once('close', () => living.delete(child))
    child.stderr?.on('data', (text: Buffer) => (this.errors += text.toString()))
    const exit = new Promise<void>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', () => resolve())
    })
    this.ready = Promise.race([new Promise<void>((resolve) => child.stdout?.once('data', () => resolve())), exit])
    this.end = exit.then(() => this.howItEnded())
    // Whoever asks hears of it; until then it is nobody's.
    this.end.catch(() => undefined)
  }

  kill(): void {
    this.child.kill('SIGKILL')
  }

  private howItEnded(): End {
    const { exitCode, signalCode, pid } = this.child
    if (signalCode === 'SIGKILL') return 'killed'
    if (exitCode === 0) return 'ended'
    if (exitCode === LEDGER_FAILED && this.mayFail) return 'failed'
    throw new Error(`The load (${pid}) ended with ${signalCode ?? exitCode}: ${this.errors.slice(-2000)}`)
  }
}
