/** What operators allow: read from the environment, refused when it contradicts itself. */
import fc from 'fast-check'
import { OptionsError } from 'reprise'
import { describe, expect, it } from 'vitest'
import { DEFAULT_OPERATOR_SETTINGS, OPERATOR_VARIABLES, readOperatorSettings, stricterOf } from './operator-settings.js'

const problemsOf = (env: Record<string, string>): string[] => {
  try {
    readOperatorSettings(env)
    return []
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error
    return error.problems.map(({ path, message }) => `${path}: ${message}`)
  }
}

describe('operator settings', () => {
  it('have the documented defaults in an empty environment', () => {
    expect(DEFAULT_OPERATOR_SETTINGS).toEqual({
      retryBudgetDefault: 20,
      retryBudgetMax: 50,
      retryBudgetPerWorkflowDefault: 3,
      retryBudgetPerWorkflowMax: 5,
      minDcsDefault: 1,
      deadlineDefaultMs: 300_000,
      deadlineMaxMs: 3_600_000,
      lateResultPolicy: 'log_only',
      checkIntervalMs: 5_000,
    })
    expect(OPERATOR_VARIABLES).toHaveLength(9)
  })

  it('are read from the environment, and an empty variable is not set', () => {
    const env = {
      RETRY_BUDGET_DEFAULT: '30',
      RETRY_BUDGET_MAX: ' 60 ',
      BEST_EFFORT_DEFAULT_DEADLINE_SECONDS: '12.5',
      BEST_EFFORT_LATE_RESULT_POLICY: 'update_result',
      BEST_EFFORT_CHECK_INTERVAL_SECONDS: '',
    }
    expect(readOperatorSettings(env)).toMatchObject({
      retryBudgetDefault: 30,
      retryBudgetMax: 60,
      deadlineDefaultMs: 12_500,
      lateResultPolicy: 'update_result',
      checkIntervalMs: 5_000,
    })
  })

  it('lower a default that nobody set to a limit that somebody set', () => {
    expect(readOperatorSettings({ RETRY_BUDGET_MAX: '10' })).toMatchObject({ retryBudgetDefault: 10 })
    expect(readOperatorSettings({ BEST_EFFORT_DEFAULT_DEADLINE_SECONDS: '2' })).toMatchObject({
      checkIntervalMs: 2_000,
    })
    expect(readOperatorSettings({ BEST_EFFORT_CHECK_INTERVAL_SECONDS: '600' })).toMatchObject({
      deadlineDefaultMs: 600_000,
    })
  })

  it.each([
    [{ RETRY_BUDGET_MAX: '-1' }, 'RETRY_BUDGET_MAX: "-1" is not a whole number from 0 to 1000000'],
    [{ RETRY_BUDGET_MAX: '2.5' }, 'RETRY_BUDGET_MAX: "2.5" is not a whole number from 0 to 1000000'],
    [{ RETRY_BUDGET_MAX: 'many' }, 'RETRY_BUDGET_MAX: "many" is not a whole number from 0 to 1000000'],
    [
      { RETRY_BUDGET_PER_WORKFLOW_MAX: '1000' },
      'RETRY_BUDGET_PER_WORKFLOW_MAX: "1000" is not a whole number from 0 to 999',
    ],
    [{ BEST_EFFORT_DEFAULT_MIN_DCS: '0' }, 'BEST_EFFORT_DEFAULT_MIN_DCS: "0" is not a whole number from 1 to 1000000'],
    [
      { BEST_EFFORT_CHECK_INTERVAL_SECONDS: '0' },
      'BEST_EFFORT_CHECK_INTERVAL_SECONDS: "0" is not a number of seconds from 0.001 to 31536000',
    ],
    [
      { BEST_EFFORT_LATE_RESULT_POLICY: 'drop' },
      'BEST_EFFORT_LATE_RESULT_POLICY: "drop" is not log_only or update_result',
    ],
    [{ RETRY_BUDGET_DEFAULT: '80' }, 'RETRY_BUDGET_DEFAULT: 80 is more than RETRY_BUDGET_MAX, which is 50'],
    [
      { BEST_EFFORT_CHECK_INTERVAL_SECONDS: '60', BEST_EFFORT_DEFAULT_DEADLINE_SECONDS: '30' },
      'BEST_EFFORT_CHECK_INTERVAL_SECONDS: 60 is more than BEST_EFFORT_DEFAULT_DEADLINE_SECONDS, which is 30',
    ],
  ])('refuse %j', (env, problem) => {
    expect(problemsOf(env as Record<string, string>)).toEqual([problem])
  })

  it('stay free of contradictions when the stricter of two is taken', () => {
    const one = fc
      .record({
        a: fc.nat(90),
        b: fc.nat(90),
        c: fc.nat(90),
        d: fc.nat(90),
        m: fc.integer({ min: 1, max: 5 }),
        late: fc.boolean(),
      })
      .map(({ a, b, c, d, m, late }) =>
        readOperatorSettings({
          RETRY_BUDGET_DEFAULT: String(Math.min(a, b)),
          RETRY_BUDGET_MAX: String(Math.max(a, b)),
          BEST_EFFORT_DEFAULT_DEADLINE_SECONDS: String(Math.min(c, d) + 1),
          BEST_EFFORT_DEADLINE_MAX_SECONDS: String(Math.max(c, d) + 1),
          BEST_EFFORT_DEFAULT_MIN_DCS: String(m),
          BEST_EFFORT_LATE_RESULT_POLICY: late ? 'log_only' : 'update_result',
        }),
      )
    fc.assert(
      fc.property(one, one, (a, b) => {
        const both = stricterOf(a, b)
        expect(both).toEqual(stricterOf(b, a))
        expect(both.retryBudgetDefault).toBeLessThanOrEqual(both.retryBudgetMax)
        expect(both.deadlineDefaultMs).toBeLessThanOrEqual(both.deadlineMaxMs)
        expect(both.checkIntervalMs).toBeLessThanOrEqual(both.deadlineDefaultMs)
        expect(both.minDcsDefault).toBe(Math.max(a.minDcsDefault, b.minDcsDefault))
      }),
    )
  })
})
