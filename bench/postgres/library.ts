/**
 * The library, asked to do what the floor does. Imports its durable entry as users would, pg, and
 * what all contenders share.
 */
import { type Durable, openDurable, type TaskHandle } from '../../packages/reprise/src/open/index.js'
import pg from 'pg'
import { addCopies } from './copies.js'
import { inLanes } from './turn.mjs'

/** Four attempts without waits between them. */
export const POLICY = { attempts: 4, backoff: 'fixed', initialDelay: 0 } as const
const FAILURE = new Error('refused')
/** Of a program that says nothing. */
const DEFAULT_CONCURRENCY = 50
/** Asked for in one turn, so that they share transactions, without holding a million promises. */
const IN_BULK = 5000

export class Library {
  private readonly url: string
  private readonly width: number
  private readonly durable: Durable
  private readonly short: TaskHandle<number, number>
  private readonly failure: TaskHandle<number, number>
  /** Records and runs nothing; another one works on it. */
  private recorder: Promise<{ durable: Durable; job: TaskHandle<number, number> }> | undefined

  private constructor(url: string, width: number, durable: Durable) {
    this.url = url
    this.width = width
    this.durable = durable
    this.short = durable.task('step', POLICY, async (input: number) => input)
    this.failure = durable.task('failing', POLICY, async (): Promise<number> => {
      throw FAILURE
    })
  }

  static async open({ url, width = DEFAULT_CONCURRENCY }: { url: string; width?: number }): Promise<Library> {
    const concurrency = Math.min(100, Math.max(DEFAULT_CONCURRENCY, width))
    return new Library(url, concurrency, await openDurable(url, { concurrency }))
  }

  steps(count: number, width: number): Promise<void> {
    return inLanes(count, width, (i) => this.short.run(i))
  }

  run(count: number, width: number): Promise<void> {
    return this.steps(count, width)
  }

  failing(count: number, width: number): Promise<void> {
    // One that is out of attempts rejects, as it should.
    return inLanes(count, width, (i) => this.failure.run(i).catch(() => undefined))
  }

  async record(count: number): Promise<void> {
    this.recorder ??= this.openRecorder()
    const { job } = await this.recorder
    for (let first = 0; first < count; first += IN_BULK) {
      await job.startAll(Array.from({ length: Math.min(IN_BULK, count - first) }, (_, i) => ({ input: first + i })))
    }
  }

  /** Until the last outcome is committed. */
  async work(count: number): Promise<void> {
    const durable = await openDurable(this.url, { concurrency: this.width })
    let left = count
    await new Promise<void>((resolve) => {
      durable.task('job', POLICY, async (input: number) => {
        if (--left === 0) resolve()
        return input
      })
    })
    await durable.drain()
    await durable.close()
  }

  /** One that is due, and before it others that wait. */
  async wait(count: number): Promise<void> {
    const { job } = await (this.recorder ??= this.openRecorder())
    const { id } = await job.start(0)
    if (count === 0) return
    const client = new pg.Client(this.url)
    await client.connect()
    await addCopies(client, id, count, 0)
    await client.query('ANALYZE reprise.tasks')
    await client.end()
  }

  async serve(begin: (index: number) => void): Promise<void> {
    this.durable.task('job', POLICY, async (input: number) => {
      begin(input)
      return input
    })
    // What a process left that is gone is taken over now, and not at the next heartbeat.
    await this.durable.resume()
  }

  close(): Promise<void> {
    return this.durable.close()
  }

  private async openRecorder(): Promise<{ durable: Durable; job: TaskHandle<number, number> }> {
    const durable = await openDurable(this.url, { concurrency: this.width })
    await durable.drain()
    return { durable, job: durable.task('job', POLICY, (input: number) => input) }
  }
}
