import { expect, test } from 'vitest'
import type { Action, PhasePlan, StepPlan } from '../plan/plan.js'
import { neededResults } from './needed-results.js'

const step = (id: string, command: string, more: Partial<StepPlan> = {}): StepPlan =>
  ({ kind: 'step', id, name: id, action: { kind: 'shell', command }, capture: null, when: null, ...more }) as StepPlan
const capturing = (id: string, name: string): StepPlan => step(id, 'true', { capture: { name, format: 'text' } })

const ENDED = [
  step('fetch.orders-1', 'true'),
  step('other', 'true'),
  capturing('count', 'total'),
  capturing('x', 'unused'),
]
const needed = (left: readonly PhasePlan[], env = {}, outputs = {}): string[] | undefined =>
  neededResults(ENDED, left, { env, outputs })?.map(({ id }) => id)

test('without a phase that may run, only results are needed that outputs name', () => {
  expect(needed([])).toEqual([])
  expect(needed([], {}, { sum: '${total}' })).toEqual(['count'])
})

test('results are needed of steps that a text of what is left names', () => {
  expect(needed([step('a', 'echo')])).toEqual([])
  expect(needed([step('a', 'echo ${total}')])).toEqual(['count'])
  expect(needed([step('a', 'echo', { when: 'steps["fetch.orders-1"].exit_code == 0' })])).toEqual(['fetch.orders-1'])
  expect(needed([step('a', 'echo ${steps.other.exit_code}')])).toEqual(['other'])
  expect(needed([step('a', 'echo')], { N: '${total}' })).toEqual(['count'])
})

test.each([
  'size(steps) > 0',
  'steps[run.name].exit_code == 0',
  'steps["a" + "b"].exit_code == 0',
  "steps['a\\u0062'].status == 1",
])('all results may be needed of an expression such as %s', (when) => {
  expect(needed([step('a', 'echo', { when })])).toBeUndefined()
})

test('a script is handed all values, so that all results may be needed', () => {
  const action = { kind: 'script', module: './a.mjs', export: 'default' } as unknown as Action
  expect(needed([step('a', 'echo'), { ...step('b', ''), action }])).toBeUndefined()
})
