/** Jobs in memory on a virtual clock: the product itself, with no time of its own. Imports sources. */
import type { Job, JobHandler, JobStatus } from '@reprise/jobs'
import type { DurationInput } from 'reprise'
import { type Ledger, MemoryLedger } from 'reprise/durable'
import { virtualClock, type VirtualClock } from 'reprise/testing'
import { type Jobs, openJobsWith } from '../../packages/jobs/src/jobs.js'

const START_MS = Date.UTC(2026, 0, 1)

export class VirtualJobs {
  readonly clock: VirtualClock
  readonly ledger: Ledger
  readonly jobs: Jobs
  private readonly more: Jobs[] = []

  private constructor(clock: VirtualClock, ledger: Ledger, jobs: Jobs) {
    this.clock = clock
    this.ledger = ledger
    this.jobs = jobs
  }

  /** One worker of `eu`, whose handler is called `some`. */
  static async open(handler: (fixture: VirtualJobs) => JobHandler, slots: number): Promise<VirtualJobs> {
    const clock = virtualClock({ startMs: START_MS })
    const ledger = new MemoryLedger({ clock })
    const fixture = new VirtualJobs(clock, ledger, await openJobsWith(ledger, { env: {} }, { clock }))
    await fixture.jobs.work({ datacenter: 'eu', slots, handlers: { some: handler(fixture) } })
    return fixture
  }

  /** As another process would have them open. */
  async openMore(): Promise<Jobs> {
    const jobs = await openJobsWith(this.ledger, { env: {} }, { clock: this.clock })
    this.more.push(jobs)
    return jobs
  }

  async close(): Promise<void> {
    for (const jobs of [...this.more, this.jobs]) await jobs.close()
  }

  /** Since the start. */
  seconds(): number {
    return (this.clock.wallMs() - START_MS) / 1000
  }

  /** Step by step, until the job is over or the time is. */
  async play(job: Job, untilSeconds: number, step: DurationInput = '1s'): Promise<JobStatus> {
    for (;;) {
      const status = await job.status()
      if (status.state === 'completed' || this.seconds() >= untilSeconds) return status
      await this.clock.advance(step)
    }
  }
}
