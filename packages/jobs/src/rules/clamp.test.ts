/** What a job gets of what it requests. */
import { describe, expect, it } from 'vitest'
import { effectiveSettings } from './clamp.js'
import { readJobRequest } from './job-request.js'
import { DEFAULT_OPERATOR_SETTINGS, readOperatorSettings } from './operator-settings.js'

const clamped = (fields: object, env = {}): ReturnType<typeof effectiveSettings> =>
  effectiveSettings(
    readJobRequest({ workflows: [{ name: 'a', handler: 'x' }], datacenters: ['eu', 'us', 'ap'], ...fields }),
    readOperatorSettings(env),
  )

describe('the settings of a job', () => {
  it("are the operator's defaults where nothing is requested", () => {
    const { settings, clamps } = clamped({ best_effort: true })
    expect(settings).toMatchObject({
      retryBudget: 20,
      retryBudgetPerWorkflow: 3,
      minDcs: 1,
      deadlineMs: 300_000,
      lateResultPolicy: 'log_only',
      checkIntervalMs: DEFAULT_OPERATOR_SETTINGS.checkIntervalMs,
    })
    expect(clamps).toEqual([])
  })

  it('are lowered to the limits, with a sentence for each', () => {
    const { settings, clamps } = clamped({
      retry_budget: 80,
      retry_budget_per_workflow: 9,
      best_effort: { min_dcs: 5, deadline: '2h', settle: '3h' },
    })
    expect(settings).toMatchObject({
      retryBudget: 50,
      retryBudgetPerWorkflow: 5,
      minDcs: 3,
      deadlineMs: 3_600_000,
      settleMs: 3_600_000,
    })
    expect(clamps.map(({ sentence }) => sentence)).toEqual([
      'retry_budget: 80 lowered to 50, the most that the operator allows',
      'retry_budget_per_workflow: 9 lowered to 5, the most that the operator allows',
      'best_effort_deadline_seconds: 2h lowered to 1h, the most that the operator allows',
      'best_effort_min_dcs: 5 lowered to 3, the number of datacenters',
      'best_effort_settle_seconds: 3h lowered to 1h, the deadline',
    ])
    expect(clamps[2]).toMatchObject({ field: 'best_effort_deadline_seconds', requested: 7200, effective: 3600 })
  })

  it('never let one workflow have more retries than the whole job', () => {
    expect(clamped({ retry_budget: 2 })).toMatchObject({ settings: { retryBudgetPerWorkflow: 2 }, clamps: [] })
    const { settings, clamps } = clamped({ retry_budget: 2, retry_budget_per_workflow: 4 })
    expect(settings.retryBudgetPerWorkflow).toBe(2)
    expect(clamps.map(({ sentence }) => sentence)).toEqual([
      'retry_budget_per_workflow: 4 lowered to 2, the retry budget of the whole job',
    ])
  })

  it('have no retries with `retries: none`', () => {
    expect(clamped({ retries: 'none' }).settings).toMatchObject({ retryBudget: 0, retryBudgetPerWorkflow: 0 })
  })

  it('raise a deadline to one check interval', () => {
    const { settings, clamps } = clamped({ best_effort: { deadline: '1s' } })
    expect(settings.deadlineMs).toBe(5_000)
    expect(clamps[0]?.sentence).toBe('best_effort_deadline_seconds: 1s raised to 5s, the interval of the checks')
  })

  it('need all datacenters and have no deadline without best effort', () => {
    expect(clamped({ best_effort_min_dcs: 1 }).settings).toMatchObject({ minDcs: 3, deadlineMs: null })
  })

  it("prefer the job's own late policy to the operator's", () => {
    const env = { BEST_EFFORT_LATE_RESULT_POLICY: 'update_result' }
    expect(clamped({}, env).settings.lateResultPolicy).toBe('update_result')
    expect(clamped({ late_result_policy: 'log_only' }, env).settings.lateResultPolicy).toBe('log_only')
  })
})
