/** The library, asked to do what the floor does. Imports its durable entry as users would, and what floor and library share. */
import type { Durable, TaskHandle } from '../../packages/reprise/src/open/index.js'
import { openChosenDurable } from '../../test/chosen-driver.js'
import type { Operation, Program } from './program.js'

/** Four attempts without waits between them. */
export const POLICY = { attempts: 4, backoff: 'fixed', initialDelay: 0 } as const

export class Library implements Program {
  private readonly durable: Durable
  private readonly task: TaskHandle<number, number>
  private operation: Operation = async (input) => input
  private left = 0
  private onLast: () => void = () => undefined

  private constructor(durable: Durable) {
    this.durable = durable
    this.task = durable.task('step', POLICY, (input: number, { attempt }) => this.perform(input, attempt))
  }

  static async open(file: string, width: number): Promise<Library> {
    return new Library(await openChosenDurable(file, { concurrency: width }))
  }

  async steps(count: number, width: number, operation: Operation): Promise<void> {
    this.operation = operation
    let next = 0
    const loop = async (): Promise<void> => {
      // One that is out of attempts rejects, as it should.
      while (next < count) await this.task.run(next++).catch(() => undefined)
    }
    await Promise.all(Array.from({ length: width }, loop))
  }

  /** The worker does not wait for all to be recorded; it is done when the last outcome is committed. */
  async queued(count: number, width: number, operation: Operation): Promise<void> {
    this.operation = operation
    this.left = count
    const last = new Promise<void>((resolve) => (this.onLast = resolve))
    let next = 0
    const loop = async (): Promise<void> => {
      while (next < count) await this.task.start(next++)
    }
    await Promise.all(Array.from({ length: width }, loop))
    await last
    await this.durable.drain()
  }

  private perform(input: number, attempt: number): Promise<number> {
    if (--this.left === 0) this.onLast()
    return this.operation(input, attempt)
  }

  close(): Promise<void> {
    return this.durable.close()
  }
}
