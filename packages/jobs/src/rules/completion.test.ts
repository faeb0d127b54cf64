/** When a job is over, and what it then has to show. */
import { describe, expect, it } from 'vitest'
import { effectiveSettings, type EffectiveSettings } from './clamp.js'
import { type CompletionState, evaluateCompletion } from './completion.js'
import type { DatacenterEnd } from './datacenter-end.js'
import { readJobRequest } from './job-request.js'
import { DEFAULT_OPERATOR_SETTINGS } from './operator-settings.js'

type Report = readonly [end: DatacenterEnd, atMs: number] | 'silent' | 'lost'

function settingsOf(fields: object, targets = 3): EffectiveSettings {
  const datacenters = ['eu', 'us', 'ap', 'sa'].slice(0, targets)
  const job = { workflows: [{ name: 'a', handler: 'x' }], datacenters, ...fields }
  return effectiveSettings(readJobRequest(job), DEFAULT_OPERATOR_SETTINGS).settings
}

function stateOf(fields: object, reports: readonly Report[], isCancelled = false): CompletionState {
  const names = ['eu', 'us', 'ap', 'sa']
  return {
    settings: settingsOf(fields, reports.length),
    submittedAtMs: 0,
    isCancelled,
    datacenters: reports.map((report, index) => ({
      name: names[index] ?? '',
      end: typeof report === 'string' ? null : report[0],
      reportedAtMs: typeof report === 'string' ? null : report[1],
      hasLivingWorker: report !== 'lost',
    })),
  }
}

const ok = (atMs: number): Report => ['completed', atMs]
const bad = (atMs: number): Report => ['failed', atMs]
const mixed = (atMs: number): Report => ['completed_with_failures', atMs]
const bestEffort = { best_effort: { min_dcs: 2, deadline: '60s' } }

describe('without best effort', () => {
  it('a job waits for every datacenter, however long', () => {
    expect(evaluateCompletion(stateOf({}, [ok(1), ok(2), 'lost']), 1e9)).toMatchObject({
      kind: 'wait',
      nextAtMs: null,
      sentence: 'waits for ap (no worker); 2 of 3 datacenters reported',
    })
  })

  it.each([
    [[ok(1), ok(2)], 'complete', true],
    [[ok(1), mixed(2)], 'partial', false],
    [[ok(1), bad(2)], 'partial', false],
    [[bad(1), bad(2)], 'failed', false],
    [[mixed(1), mixed(2)], 'partial', false],
  ] as const)('reports %j are %s', (reports, outcome, success) => {
    expect(evaluateCompletion(stateOf({}, reports), 5)).toMatchObject({ reason: 'all_dcs_reported', outcome, success })
  })
})

describe('with best effort', () => {
  it('a job completes with the report that reaches the minimum', () => {
    expect(evaluateCompletion(stateOf(bestEffort, [ok(1), ok(2), 'silent']), 2)).toEqual({
      kind: 'complete',
      reason: 'min_dcs_reached',
      outcome: 'partial',
      success: true,
      minDcsMet: true,
    })
  })

  it('a job of which all have reported is over, also at its deadline', () => {
    expect(evaluateCompletion(stateOf(bestEffort, [ok(1), bad(2), ok(60_000)]), 60_000)).toMatchObject({
      reason: 'all_dcs_reported',
    })
  })

  it('the deadline is inclusive', () => {
    const state = stateOf(bestEffort, [ok(1), 'silent', 'silent'])
    expect(evaluateCompletion(state, 59_999)).toMatchObject({ kind: 'wait', nextAtMs: 60_000, nextIs: 'deadline' })
    expect(evaluateCompletion(state, 60_000)).toMatchObject({
      reason: 'deadline_expired',
      outcome: 'below_minimum',
      success: false,
    })
  })

  it('a report that is committed before the timer of the deadline counts', () => {
    expect(evaluateCompletion(stateOf(bestEffort, [ok(1), ok(61_000), 'silent']), 61_000)).toMatchObject({
      reason: 'min_dcs_reached',
      success: true,
    })
  })

  it('settling counts from the report that reached the minimum, and never passes the deadline', () => {
    const settling = { best_effort: { min_dcs: 1, deadline: '60s', settle: '10s' } }
    const state = stateOf(settling, [ok(5_000), ok(9_000), 'silent'])
    expect(evaluateCompletion(state, 14_999)).toMatchObject({ kind: 'wait', nextAtMs: 15_000, nextIs: 'settle' })
    expect(evaluateCompletion(state, 15_000)).toMatchObject({ reason: 'min_dcs_reached' })
    const late = stateOf(settling, [ok(55_000), 'silent', 'silent'])
    expect(evaluateCompletion(late, 55_000)).toMatchObject({ nextAtMs: 60_000, nextIs: 'settle' })
    expect(evaluateCompletion(late, 60_000)).toMatchObject({ reason: 'min_dcs_reached' })
  })

  it('a minimum that was reached before a retry does not end it: the others report, or the deadline passes', () => {
    const settling = { best_effort: { min_dcs: 2, deadline: '60s', settle: '10s' } }
    const retried = { ...stateOf(settling, [ok(1_000), ok(2_000), 'lost']), submittedAtMs: 20_000 }
    expect(evaluateCompletion(retried, 30_000)).toMatchObject({ kind: 'wait', nextAtMs: 80_000, nextIs: 'deadline' })
    expect(evaluateCompletion(retried, 80_000)).toMatchObject({ reason: 'deadline_expired', success: true })
    const reached = { ...stateOf(settling, [ok(1_000), ok(25_000), 'silent']), submittedAtMs: 20_000 }
    expect(evaluateCompletion(reached, 30_000)).toMatchObject({ nextAtMs: 35_000, nextIs: 'settle' })
  })

  it('settling is over where none of the rest has a living worker', () => {
    const settling = { best_effort: { min_dcs: 1, deadline: '60s', settle: '10s' } }
    expect(evaluateCompletion(stateOf(settling, [ok(5_000), 'lost', 'lost']), 5_000)).toMatchObject({
      kind: 'complete',
    })
    expect(evaluateCompletion(stateOf(settling, [ok(5_000), 'silent', 'lost']), 5_000)).toMatchObject({ kind: 'wait' })
  })

  it('a job whose minimum cannot be reached any more keeps waiting, and says so', () => {
    expect(evaluateCompletion(stateOf(bestEffort, [bad(1), bad(2), 'silent']), 3_000)).toMatchObject({
      kind: 'wait',
      isMinimumUnreachable: true,
      sentence: 'waits for ap; the minimum of 2 datacenters cannot be reached; deadline in 57s',
    })
  })

  it('says what is missing while it can be reached', () => {
    expect(evaluateCompletion(stateOf(bestEffort, [ok(1), 'lost', 'silent']), 3_000)).toMatchObject({
      sentence: 'waits for us (no worker), ap; 1 of at least 2 datacenters completed; deadline in 57s',
    })
  })

  it('says for how long a datacenter has had no worker, where that is known', () => {
    const state = stateOf(bestEffort, [ok(1), 'lost', 'silent'])
    const datacenters = state.datacenters.map((one) => ({ ...one, silentForMs: 40_900 }))
    expect(evaluateCompletion({ ...state, datacenters }, 3_000)).toMatchObject({
      sentence: 'waits for us (no worker for 40s), ap; 1 of at least 2 datacenters completed; deadline in 57s',
    })
  })

  it('a datacenter with some failures counts, unless all must succeed', () => {
    const state = stateOf(bestEffort, [mixed(1), mixed(2), 'silent'])
    expect(evaluateCompletion(state, 2)).toMatchObject({ reason: 'min_dcs_reached', success: true })
    const strict = stateOf({ ...bestEffort, datacenter_success: 'all' }, [mixed(1), mixed(2), 'silent'])
    expect(evaluateCompletion(strict, 2)).toMatchObject({ kind: 'wait' })
    expect(evaluateCompletion(strict, 60_000)).toMatchObject({ outcome: 'below_minimum', success: false })
  })

  it('below the minimum any completed datacenter is a success where the minimum is not strict', () => {
    const lenient = { ...bestEffort, strict_min_dcs: false }
    expect(evaluateCompletion(stateOf(lenient, [ok(1), 'silent', 'silent']), 60_000)).toMatchObject({
      outcome: 'below_minimum',
      success: true,
      minDcsMet: false,
    })
    expect(evaluateCompletion(stateOf(lenient, [bad(1), 'silent', 'silent']), 60_000)).toMatchObject({
      outcome: 'failed',
      success: false,
    })
  })

  it('all datacenters failed: the job has failed at once', () => {
    expect(evaluateCompletion(stateOf(bestEffort, [bad(1), bad(2), bad(3)]), 3)).toMatchObject({
      reason: 'all_dcs_reported',
      outcome: 'failed',
    })
  })
})

describe('stopped from outside', () => {
  it('a cancelled job has what was reported, and no success', () => {
    expect(evaluateCompletion(stateOf(bestEffort, [ok(1), 'silent', 'silent'], true), 5)).toMatchObject({
      reason: 'cancelled',
      outcome: 'below_minimum',
      success: false,
    })
  })

  it('a job is not cancelled after its last report', () => {
    expect(evaluateCompletion(stateOf({}, [ok(1), ok(2)], true), 5)).toMatchObject({
      reason: 'all_dcs_reported',
      success: true,
    })
  })

  it('the timeout ends a job with what was reported, and no success', () => {
    const state = stateOf({ timeout: '30s' }, [ok(1), 'silent'])
    expect(evaluateCompletion(state, 29_000)).toMatchObject({ nextAtMs: 30_000, nextIs: 'timeout' })
    expect(evaluateCompletion(state, 30_000)).toMatchObject({ reason: 'timeout', outcome: 'partial', success: false })
  })

  it('the timeout ends a job whose workflows it has failed, though they report before its timer', () => {
    const state = stateOf({ timeout: '5s' }, [ok(1_000), bad(5_002), bad(5_003)])
    expect(evaluateCompletion(state, 5_003)).toMatchObject({ reason: 'timeout', outcome: 'partial', success: false })
    expect(evaluateCompletion(state, 4_000)).toMatchObject({ reason: 'all_dcs_reported' })
    const complete = stateOf({ timeout: '5s' }, [ok(1_000), ok(2_000), ok(5_003)])
    expect(evaluateCompletion(complete, 5_003)).toMatchObject({ reason: 'all_dcs_reported', success: true })
  })

  it('of a deadline and a timeout that have both passed the earlier one ends the job', () => {
    const reports = [ok(1), 'silent', 'silent'] as const
    expect(evaluateCompletion(stateOf({ ...bestEffort, timeout: '30s' }, reports), 90_000)).toMatchObject({
      reason: 'timeout',
    })
    expect(evaluateCompletion(stateOf({ ...bestEffort, timeout: '70s' }, reports), 90_000)).toMatchObject({
      reason: 'deadline_expired',
    })
  })
})
