/** Starts processes that do what a test tells them, and hears what they say. Imports Node and the bundler. */
import { type ChildProcess, spawn } from 'node:child_process'
import type { Checkpoint, Json } from 'reprise/durable'
import { type BundledProgram, bundleProgram } from '../bundled-program.js'
import type { SharedPlace } from '../gates/shared-place.js'

export type Order =
  | { readonly type: 'start'; readonly id: string }
  | { readonly type: 'finish'; readonly id: string; readonly value: string }
  /** Writes a checkpoint of the task. */
  | { readonly type: 'keep'; readonly id: string; readonly value: string }
  /** The event loop is blocked for so long. */
  | { readonly type: 'block'; readonly forMs: number }
  | { readonly type: 'close' }

export type Told =
  | { readonly type: 'ready' | 'unblocked' }
  | { readonly type: 'kept'; readonly id: string; readonly value: string }
  | {
      readonly type: 'began'
      readonly id: string
      readonly attempt: number
      readonly execution: number
      readonly lastCheckpoint: Checkpoint<Json> | null
    }

export const bundleTold = (): Promise<BundledProgram> => bundleProgram(new URL('told-process.ts', import.meta.url))

export class ToldProcess {
  readonly child: ChildProcess
  readonly told: Told[] = []
  private errors = ''

  constructor({ file }: BundledProgram, address: string, leaseMs: number) {
    const args = [file, address, String(leaseMs)]
    this.child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'pipe', 'ipc'] })
    this.child.stderr?.on('data', (text: Buffer) => (this.errors += text.toString()))
    this.child.on('message', (told: Told) => this.told.push(told))
  }

  order(order: Order): void {
    this.child.send(order)
  }

  has(type: Told['type'], id?: string): boolean {
    return this.told.some((told) => told.type === type && (id === undefined || (told as { id?: string }).id === id))
  }

  /** Until it holds, or the process has ended. */
  async until(holds: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await holds())) {
      const { exitCode, signalCode } = this.child
      if (exitCode !== null || signalCode !== null)
        throw new Error(`It ended with ${signalCode ?? exitCode}: ${this.errors}`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('close', resolve))
    this.order({ type: 'close' })
    await ended
    if (this.child.exitCode !== 0) throw new Error(`It ended with ${this.child.exitCode}: ${this.errors}`)
  }
}

/** One that is ready, and is killed with the place. */
export async function startTold(place: SharedPlace, program: BundledProgram, leaseMs: number): Promise<ToldProcess> {
  const one = new ToldProcess(program, place.address, leaseMs)
  place.keep(one.child)
  await one.until(() => one.has('ready'))
  return one
}
