/** Results of jobs: derived from what counts, with aggregates, and what a late report changes. */
import { describe, expect, it } from 'vitest'
import { aggregateOutputs } from './aggregate.js'
import { effectiveSettings, type EffectiveSettings } from './clamp.js'
import { type Completion, type DatacenterStanding, evaluateCompletion } from './completion.js'
import { datacenterEnd, dispatchExpiresAtMs } from './datacenter-end.js'
import { readJobRequest } from './job-request.js'
import { type CompletedJobRecord, type DatacenterReport, exitCodeOf, jobResult } from './job-result.js'
import { acceptLateResult } from './late-result.js'
import { DEFAULT_OPERATOR_SETTINGS } from './operator-settings.js'

const targets = ['eu', 'us', 'ap']

function settingsOf(fields: object): EffectiveSettings {
  const job = { workflows: [{ name: 'a', handler: 'x' }], datacenters: targets, ...fields }
  return effectiveSettings(readJobRequest(job), DEFAULT_OPERATOR_SETTINGS).settings
}

function report(name: string, requests: number, more: Partial<DatacenterReport> = {}): DatacenterReport {
  return {
    name,
    end: 'completed',
    counts: { total: 1, succeeded: 1, failed: 0, skipped: 0, cancelled: 0 },
    reportedAtMs: 10,
    isLate: false,
    isCounted: true,
    workflows: [
      {
        name: 'a',
        state: 'succeeded',
        attempts: 2,
        retries: 1,
        startedAtMs: 2,
        endedAtMs: 9,
        outputs: { requests },
        error: null,
        denied: null,
      },
    ],
    ...more,
  }
}

const standing = ({ name, end, reportedAtMs }: DatacenterReport): DatacenterStanding => ({
  name,
  end,
  reportedAtMs,
  hasLivingWorker: true,
})

const silent = (name: string): DatacenterStanding => ({ name, end: null, reportedAtMs: null, hasLivingWorker: true })

function completedJob(fields: object, completion: Completion): CompletedJobRecord {
  return {
    id: 'j',
    name: 'probe',
    targets,
    settings: settingsOf(fields),
    aggregate: { requests: 'sum' },
    completion,
    submittedAtMs: 0,
    completedAtMs: 20,
    version: 1,
  }
}

const partial: Completion = {
  kind: 'complete',
  reason: 'min_dcs_reached',
  outcome: 'partial',
  success: true,
  minDcsMet: true,
}

describe('the result of a job', () => {
  it('speaks of the datacenters that reported', () => {
    const result = jobResult(completedJob({ best_effort: true }, partial), [report('us', 5), report('eu', 3)])
    expect(result).toMatchObject({
      reported: ['eu', 'us'],
      completed: ['eu', 'us'],
      failed: [],
      missing: ['ap'],
      stragglers: 'running',
      ratio: 2 / 3,
      durationMs: 20,
      totals: {
        workflows: 2,
        succeeded: 2,
        attempts: 4,
        retries: 2,
        workflowDurationSumMs: 14,
        workflowDurationMaxMs: 7,
      },
      aggregates: { requests: { kind: 'sum', value: 8, count: 2, ignored: 0, datacenters: ['eu', 'us'] } },
    })
  })

  it('says of stragglers that they were cancelled where the job wants that', () => {
    const job = completedJob({ best_effort: true, stragglers: 'cancel' }, partial)
    expect(jobResult(job, [report('eu', 1)]).stragglers).toBe('cancelled_after_completion')
  })

  it('does not change by a byte with a late report that does not count', () => {
    const job = completedJob({ best_effort: true }, partial)
    const before = JSON.stringify(jobResult(job, [report('eu', 3), report('us', 5)]))
    const late = report('ap', 9, { isLate: true, isCounted: false })
    expect(JSON.stringify(jobResult(job, [late, report('us', 5), report('eu', 3)]))).toBe(before)
  })

  it.each([
    [{ success: true, outcome: 'partial', reason: 'min_dcs_reached' }, 0],
    [{ success: true, outcome: 'below_minimum', reason: 'deadline_expired' }, 0],
    [{ success: false, outcome: 'partial', reason: 'all_dcs_reported' }, 3],
    [{ success: false, outcome: 'below_minimum', reason: 'deadline_expired' }, 3],
    [{ success: false, outcome: 'failed', reason: 'all_dcs_reported' }, 1],
    [{ success: false, outcome: 'partial', reason: 'timeout' }, 1],
    [{ success: false, outcome: 'partial', reason: 'cancelled' }, 1],
  ] as const)('%j ends a command with exit code %i', (result, code) => {
    expect(exitCodeOf(result)).toBe(code)
  })
})

describe('a late result', () => {
  const below: Completion = {
    ...partial,
    reason: 'deadline_expired',
    outcome: 'below_minimum',
    success: false,
    minDcsMet: false,
  }
  const datacenters = [standing(report('eu', 1)), silent('us'), silent('ap')]
  const fields = { best_effort: { min_dcs: 2 }, late_result_policy: 'update_result' }

  it('is logged and changes nothing by default', () => {
    const settings = settingsOf({ ...fields, late_result_policy: 'log_only' })
    expect(
      acceptLateResult({ settings, completion: below, version: 1, datacenters }, standing(report('us', 1))),
    ).toEqual({
      kind: 'logged',
    })
  })

  it('may improve a result that was below the minimum, whose time and reason stay', () => {
    const job = { settings: settingsOf(fields), completion: below, version: 1, datacenters }
    expect(acceptLateResult(job, standing(report('us', 1)))).toEqual({
      kind: 'updated',
      version: 2,
      completion: { ...below, outcome: 'partial', success: true, minDcsMet: true },
    })
  })

  it('never turns success into failure', () => {
    const job = { settings: settingsOf(fields), completion: partial, version: 3, datacenters }
    expect(acceptLateResult(job, standing(report('us', 1, { end: 'failed' })))).toEqual({
      kind: 'updated',
      version: 4,
      completion: partial,
    })
  })

  it('never updates a cancelled job', () => {
    const completion: Completion = { ...below, reason: 'cancelled' }
    const job = { settings: settingsOf(fields), completion, version: 1, datacenters }
    expect(acceptLateResult(job, standing(report('us', 1)))).toEqual({ kind: 'logged' })
  })

  it('leaves a job that timed out without success', () => {
    const completion: Completion = { ...below, reason: 'timeout' }
    const job = { settings: settingsOf(fields), completion, version: 1, datacenters }
    expect(acceptLateResult(job, standing(report('us', 1)))).toMatchObject({
      completion: { outcome: 'partial', success: false },
    })
  })
})

describe('a datacenter', () => {
  it.each([
    [{ total: 2, succeeded: 1, failed: 0, skipped: 0, cancelled: 0 }, null],
    [{ total: 2, succeeded: 2, failed: 0, skipped: 0, cancelled: 0 }, 'completed'],
    [{ total: 2, succeeded: 1, failed: 0, skipped: 1, cancelled: 0 }, 'completed_with_failures'],
    [{ total: 2, succeeded: 0, failed: 1, skipped: 1, cancelled: 0 }, 'failed'],
    [{ total: 2, succeeded: 1, failed: 0, skipped: 0, cancelled: 1 }, 'cancelled'],
  ] as const)('with %j has ended as %s', (counts, end) => {
    expect(datacenterEnd(counts)).toBe(end)
  })

  it('is given up at its dispatch timeout only if no worker has claimed anything', () => {
    const settings = settingsOf({ dispatch_timeout: '30s' })
    expect(dispatchExpiresAtMs(settings, 1_000, null)).toBe(31_000)
    expect(dispatchExpiresAtMs(settings, 1_000, 2_000)).toBeNull()
    expect(dispatchExpiresAtMs(settingsOf({}), 1_000, null)).toBeNull()
  })

  it('that is cancelled counts for nothing', () => {
    const state = {
      settings: settingsOf({}),
      submittedAtMs: 0,
      isCancelled: false,
      datacenters: targets.map((name) => ({ name, end: 'cancelled', reportedAtMs: 1, hasLivingWorker: true }) as const),
    }
    expect(evaluateCompletion(state, 1)).toMatchObject({ outcome: 'failed', success: false })
  })
})

describe('an aggregate', () => {
  const outputs = [
    { datacenter: 'eu', workflow: 'a', outputs: { n: 3, text: 'x', spread: [1, 12, 0] } },
    { datacenter: 'us', workflow: 'a', outputs: { n: '4.5', spread: { '10': 2, '+Inf': 1 } } },
    { datacenter: 'us', workflow: 'b', outputs: { n: -1 } },
  ]
  const of = (name: string, kind: 'sum' | 'min' | 'max' | 'mean' | 'count' | 'histogram'): unknown =>
    aggregateOutputs({ [name]: kind }, outputs)[name]

  it('combines numbers, and text that is a number, of every workflow that has the output', () => {
    expect(of('n', 'sum')).toEqual({ kind: 'sum', value: 6.5, count: 3, ignored: 0, datacenters: ['eu', 'us'] })
    expect(of('n', 'min')).toMatchObject({ value: -1 })
    expect(of('n', 'max')).toMatchObject({ value: 4.5 })
    expect(of('n', 'mean')).toMatchObject({ value: 6.5 / 3 })
    expect(of('n', 'count')).toMatchObject({ value: 3 })
  })

  it('is of one workflow where it is named so', () => {
    expect(of('a.n', 'sum')).toMatchObject({ value: 7.5, count: 2 })
  })

  it('says what it could not use, and has no value without any', () => {
    expect(of('text', 'sum')).toEqual({ kind: 'sum', value: null, count: 0, ignored: 1, datacenters: [] })
    expect(of('nothing', 'max')).toMatchObject({ value: null, count: 0, ignored: 0 })
  })

  it('adds histograms, and sorts numbers into buckets of 1, 2, 5, 10 …', () => {
    expect(of('spread', 'histogram')).toEqual({
      kind: 'histogram',
      value: null,
      count: 6,
      ignored: 0,
      datacenters: ['eu', 'us'],
      buckets: [
        { upTo: 0, count: 1 },
        { upTo: 1, count: 1 },
        { upTo: 10, count: 2 },
        { upTo: 20, count: 1 },
        { upTo: null, count: 1 },
      ],
    })
  })
})
