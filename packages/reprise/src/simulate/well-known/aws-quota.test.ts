import { describe, expect, it } from 'vitest'
import type { AttemptOutcome, BudgetRequest, Decision } from '../../core/budget.js'
import { DENIED } from '../../core/gate.js'
import { AwsQuota } from './aws-quota.js'

const asking = (attempt: number, deadlineMs = 10_000): BudgetRequest => ({
  key: '',
  attempt,
  launch: attempt,
  kind: 'retry',
  ref: { name: 'aws', cost: 1 },
  now: 0,
  deadlineMs,
})
const ended = (result: AttemptOutcome['result'], now = 0): AttemptOutcome => ({ result, latencyMs: 1, won: false, now })

/** A retry of its own call, which fails. */
function spend(quota: AwsQuota, times: number): void {
  for (let i = 0; i < times; i++) quota.allowAttempt(asking(2)).release?.(ended('failure'))
}

describe('the AWS retry quota', () => {
  it('has 500 tokens, takes 5 for a retry and denies one it cannot pay', () => {
    const quota = new AwsQuota()
    expect(quota.tokens).toBe(500)
    spend(quota, 1)
    expect(quota.tokens).toBe(495)
    spend(quota, 99)
    expect(quota.tokens).toBe(0)
    expect(quota.allowAttempt(asking(2))).toBe(DENIED)
    expect(quota.tokens).toBe(0)
  })

  it('takes 10 for the retry of a call that timed out, and of that call only', () => {
    const quota = new AwsQuota()
    quota.settle(asking(1, 7000), ended('timeout', 1000))
    quota.allowAttempt(asking(2, 8000))
    expect(quota.tokens).toBe(495)
    quota.allowAttempt(asking(2, 7000))
    expect(quota.tokens).toBe(485)
    quota.allowAttempt(asking(3, 7000))
    expect(quota.tokens).toBe(480)
  })

  it('remembers that a retry timed out as it does of a first attempt', () => {
    const quota = new AwsQuota()
    quota.allowAttempt(asking(2, 7000)).release?.(ended('timeout', 2000))
    quota.allowAttempt(asking(3, 7000))
    expect(quota.tokens).toBe(485)
  })

  it('forgets a call that timed out once its deadline has passed', () => {
    const quota = new AwsQuota()
    quota.settle(asking(1, 7000), ended('timeout', 6000))
    quota.settle(asking(1, 9000), ended('timeout', 8000))
    quota.allowAttempt(asking(2, 7000))
    expect(quota.tokens).toBe(495)
    quota.allowAttempt(asking(2, 9000))
    expect(quota.tokens).toBe(485)
  })

  it('gets back what the last retry took when that succeeds, and 1 for a success at once', () => {
    const quota = new AwsQuota()
    spend(quota, 20)
    expect(quota.tokens).toBe(400)
    const second: Decision = quota.allowAttempt(asking(2))
    second.release?.(ended('timeout', 1000))
    const third = quota.allowAttempt(asking(3))
    expect(quota.tokens).toBe(385)
    third.release?.(ended('success'))
    expect(quota.tokens).toBe(395)
    quota.settle(asking(1), ended('success'))
    expect(quota.tokens).toBe(396)
  })

  it('never has more than it began with', () => {
    const quota = new AwsQuota()
    quota.settle(asking(1), ended('success'))
    expect(quota.tokens).toBe(500)
  })

  it('lets first attempts pass free when nothing is left', () => {
    const quota = new AwsQuota()
    spend(quota, 100)
    expect(quota.allowAttempt(asking(1)).allowed).toBe(true)
    quota.settle(asking(1), ended('failure'))
    expect(quota.tokens).toBe(0)
  })
})
