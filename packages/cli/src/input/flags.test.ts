import { InputError, type Problem } from '@reprise/workflow'
import { ScenarioError } from 'reprise/simulate'
import { expect, test } from 'vitest'
import { type PolicyFlagTexts, readPolicyFlags } from './policy-flags.js'
import { readScenarioFlags, refuseScenario, type ScenarioFlagTexts } from './scenario-flags.js'

function problemsOf(work: () => unknown): readonly Problem[] {
  try {
    work()
  } catch (error) {
    if (error instanceof InputError) return error.problems
    throw error
  }
  return []
}

// ── policies ─────────────────────────────────────────────────────────────────────────────────────

test('flags become the fields they name, and nothing else', () => {
  const flags = readPolicyFlags({ attempts: '5', backoff: 'linear', maxDelay: '5s', jitter: 'full', timeout: '1m' })
  expect(flags).toEqual({
    fields: { attempts: 5, backoff: 'linear', maxDelay: 5000, jitter: 'full', timeout: 60_000 },
    budget: undefined,
    isPolicy: true,
  })
})

test.each([
  [{}, false],
  [{ attemptTimeout: '1s', timeout: '2s' }, false],
  [{ attempts: '3' }, true],
  [{ budget: 'ratio' }, true],
])('%o: whether it says how to retry is %s', (texts, isPolicy) => {
  expect(readPolicyFlags(texts).isPolicy).toBe(isPolicy)
})

test.each([
  ['none', false],
  ['false', false],
  ['true', true],
  ['equal', 'equal'],
])('--jitter %s', (jitter, value) => {
  expect(readPolicyFlags({ jitter }).fields).toEqual({ jitter: value })
})

test('every flag that is wrong is named, with what to write instead', () => {
  const texts: PolicyFlagTexts = {
    ...{ attempts: 'x', backoff: 'exponentail', initialDelay: '5', jitter: 'ful', budget: 'count' },
  }
  const problems = problemsOf(() => readPolicyFlags(texts))
  expect(problems.map(({ message }) => message.split(':')[0])).toEqual([
    ...['--attempts', '--initial-delay', '--backoff', '--jitter', '--budget'],
  ])
  expect(problems.map(({ suggestion }) => suggestion).filter((one) => one !== undefined)).toEqual([
    'did you mean `exponential`?',
    'did you mean `full`?',
    'such as `{type: count, total: 20}`',
  ])
})

// ── scenarios ────────────────────────────────────────────────────────────────────────────────────

test('without flags a scenario is whole', () => {
  expect(readScenarioFlags({})).toEqual({
    scenario: {
      ...{ clients: 100, load: 0.75, capacity: 1000, serviceTime: 20, serviceShape: 'exponential', queue: 2000 },
      ...{ fault: 'hang', before: 30_000, during: 30_000, after: 120_000, errorRate: 0 },
    },
    seed: 1,
    notes: [],
  })
})

test.each([
  ['capacity', 0.5],
  ['slow', 3],
  ['errors', 0.2],
  ['hang', undefined],
])('%s has the amount %s unless another is given', (fault, amount) => {
  expect(readScenarioFlags({ fault }).scenario.amount).toBe(amount)
})

test('an amount of a fault that has none is said to be unused', () => {
  expect(readScenarioFlags({ fault: 'capacity', amount: '.25' })).toMatchObject({
    scenario: { amount: 0.25 },
    notes: [],
  })
  expect(readScenarioFlags({ amount: '2' }).notes).toEqual(['`--amount` says nothing about the fault hang.'])
})

test.each<[ScenarioFlagTexts, string, string?]>([
  [{ fault: 'hnag' }, '--fault: "hnag" is not one of none, hang', 'did you mean `hang`?'],
  [{ failRate: '20%' }, '--fail-rate: "20%" is not a number', 'write it as a share of 1: 0.2'],
  [{ clients: '' }, '--clients: "" is not a number'],
  [{ load: 'Infinity' }, '--load: "Infinity" is not a number'],
  [{ outage: '30' }, `--outage: "30" is not a duration from 0ms to 365d such as '30s' or '30ms'`],
  [{ seed: '1.5' }, '--seed: 1.5 is not a whole number from 0 to 4294967295'],
  [{ seed: '-1' }, '--seed: -1 is not a whole number'],
])('%o is refused', (texts, message, suggestion) => {
  const [problem] = problemsOf(() => readScenarioFlags(texts))
  expect(problem?.message).toContain(message)
  expect(problem?.suggestion).toBe(suggestion)
})

test.each([
  ['during: 172800000 is not a duration such as 20ms', '--outage: 2d is not a duration such as 20ms'],
  ['errorRate: 2 is not a number', '--fail-rate: 2 is not a number'],
  ['clients: 0 is not a number', '--clients: 0 is not a number'],
  ['of 9 calls is too large: lower capacity, load or the times', 'a simulation of 9 calls is too large'],
])('what the simulator says, %j, names the flag', (said, message) => {
  expect(problemsOf(() => refuseScenario(new ScenarioError(said)))[0]?.message).toBe(message)
})

test('an error that is no fault of the scenario is thrown as it is', () => {
  const bug = new TypeError('boom')
  expect(() => refuseScenario(bug)).toThrow(bug)
})
