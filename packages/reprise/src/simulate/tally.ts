/**
 * What happened, second by second, and over all. Imports nothing.
 */

export class Tally {
  /** Calls that began in this second; by the second they began in, those that succeeded. */
  readonly calls: number[]
  readonly succeeded: number[]
  /** Attempts that began in this second, and successes of calls that came in it. */
  readonly attempts: number[]
  readonly useful: number[]
  firstAttempts = 0
  retries = 0
  retriesThatFailed = 0
  private readonly latenciesMs: number[] = []

  constructor(endMs: number) {
    const seconds = (): number[] => Array.from({ length: Math.ceil(endMs / 1000) }, () => 0)
    this.calls = seconds()
    this.succeeded = seconds()
    this.attempts = seconds()
    this.useful = seconds()
  }

  callBegan(now: number): void {
    count(this.calls, now)
  }

  attemptBegan(now: number, number: number): void {
    count(this.attempts, now)
    if (number === 1) this.firstAttempts++
    else this.retries++
  }

  attemptEnded(number: number, ok: boolean): void {
    if (number > 1 && !ok) this.retriesThatFailed++
  }

  callEnded(startMs: number, now: number, ok: boolean): void {
    if (!ok) return
    count(this.succeeded, startMs)
    count(this.useful, now)
    this.latenciesMs.push(now - startMs)
  }

  latencyMs(percentile: number): number {
    const sorted = Float64Array.from(this.latenciesMs).sort()
    return sorted[Math.ceil((sorted.length * percentile) / 100) - 1] ?? 0
  }
}

function count(seconds: number[], atMs: number): void {
  const second = Math.min(Math.floor(atMs / 1000), seconds.length - 1)
  seconds[second] = (seconds[second] as number) + 1
}
