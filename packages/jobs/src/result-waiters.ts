/**
 * Waiting for results of jobs by many callers of one process, such as clients of a gate: those that wait for the same job
 * share its reads, and the more wait, the less often each job is looked at. Imports the jobs.
 *
 * Invariants: a result is seen within a second of its report, with room for a slow store; nobody is given a read that began
 * before the waiting, which may have been before a `retry`.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Jobs } from './jobs.js'
import type { JobResult } from './rules/job-result.js'

const LOOK_MS = 200
/** So many callers make a look as often as that. */
const CALLERS = 40
const MOST_LOOK_MS = 800

interface Look {
  readonly read: Promise<JobResult | undefined>
  readonly startedMs: number
}

export class ResultWaiters {
  private readonly jobs: Jobs
  private readonly looks = new Map<string, Look>()
  private waiting = 0

  constructor(jobs: Jobs) {
    this.jobs = jobs
  }

  /** null: the job has not completed by then, or nobody waits for it any more. */
  async wait(id: string, limitMs: number, ending?: AbortSignal): Promise<JobResult | null> {
    const sinceMs = performance.now()
    const endMs = sinceMs + limitMs
    this.waiting++
    try {
      for (;;) {
        const result = await this.look(id, sinceMs)
        if (result !== undefined) return result
        const leftMs = endMs - performance.now()
        if (leftMs <= 0 || ending?.aborted === true) return null
        const pauseMs = Math.min(leftMs, this.pauseMs())
        // An end by the signal is no failure: the loop sees it.
        await delay(pauseMs, undefined, ending && { signal: ending }).catch(() => undefined)
      }
    } finally {
      this.waiting--
    }
  }

  private pauseMs(): number {
    return Math.min(MOST_LOOK_MS, LOOK_MS * Math.ceil(this.waiting / CALLERS))
  }

  /** Shared by those who ask while it is read, or shortly after, and have waited since before it began. */
  private look(id: string, sinceMs: number): Promise<JobResult | undefined> {
    const known = this.looks.get(id)
    if (known !== undefined && known.startedMs >= sinceMs) return known.read
    const look = { read: this.jobs.result(id), startedMs: performance.now() }
    this.looks.set(id, look)
    const forget = (): void => {
      if (this.looks.get(id) === look) this.looks.delete(id)
    }
    look.read.then(() => void setTimeout(forget, this.pauseMs() / 2).unref(), forget)
    return look.read
  }
}
