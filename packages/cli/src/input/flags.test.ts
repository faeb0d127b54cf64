import { InputError, type Problem } from '@reprise/workflow'
import { OptionsError } from 'reprise'
import { FAULT_KINDS } from 'reprise/simulate'
import { expect, test } from 'vitest'
import { POLICY_FLAGS, type PolicyFlagTexts, SCENARIO_FLAGS, type ScenarioFlagTexts } from '../flag-table.js'
import { readCommandPolicy } from './policy-fields.js'
import { readPolicyFlags } from './policy-flags.js'
import { refuseOptions } from './refused-options.js'
import { flagWords, readScenarioFlags, refuseScenario } from './scenario-flags.js'

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
    fields: { attempts: 5, backoff: 'linear', maxDelay: '5s', jitter: 'full', timeout: '1m' },
    budget: undefined,
  })
})

test('a budget is read by its type', () => {
  expect(readPolicyFlags({ budget: 'ratio' })).toMatchObject({ budget: { type: 'ratio' } })
})

test('--attempt-timeout is one attempt and --timeout everything, as in a file', () => {
  const { policy, document } = readCommandPolicy({ attemptTimeout: '1s', timeout: '5m' })
  expect(policy).toMatchObject({ attemptTimeoutMs: 1000, timeoutMs: 300_000 })
  expect(document).toEqual({ attemptTimeout: '1s', timeout: '5m' })
})

test('--retry-on has the words of a file, exit:N among them', () => {
  const { policy, document } = readCommandPolicy({ retryOn: 'network, exit:75,5xx' })
  expect(document).toEqual({ retryOn: ['network', 'exit:75', '5xx'] })
  expect(policy.retryOn).toEqual(['network', { exitCode: [75] }, 'server_error'])
  expect(problemsOf(() => readCommandPolicy({ retryOn: 'exit:0' }))[0]?.message).toContain('--retry-on: 0 is not')
})

test('without flags a command has the policy of a call', () => {
  expect(readCommandPolicy({}).document).toEqual({ jitter: 'full' })
})

test.each([
  ['none', false],
  ['equal', 'equal'],
  [true, 'full'],
] as const)('--jitter %s', (jitter, value) => {
  expect(readPolicyFlags({ jitter }).fields).toEqual({ jitter: value })
})

test('every flag that is wrong is named, with what to write instead', () => {
  const texts: PolicyFlagTexts = {
    ...{ attempts: 'x', backoff: 'exponentail', initialDelay: '5', jitter: 'ful' },
  }
  const problems = problemsOf(() => readPolicyFlags({ ...texts, budget: 'count' }))
  expect(problems.map(({ message }) => message.split(':')[0])).toEqual([
    ...['--attempts', '--backoff', '--initial-delay', '--jitter', '--budget'],
  ])
  expect(problems.map(({ suggestion }) => suggestion).filter((one) => one !== undefined)).toEqual([
    'did you mean `exponential`?',
    'did you mean `full`?',
    'such as `{type: count, total: 20}`',
  ])
})

// ── scenarios ────────────────────────────────────────────────────────────────────────────────────

test('without flags nothing of a scenario is given, and the seed is 1', () => {
  expect(readScenarioFlags({})).toEqual({ scenario: {}, seed: 1 })
})

test('the choices of --fault are the faults of the simulator', () => {
  expect(SCENARIO_FLAGS.find(({ field }) => field === 'fault')?.choices).toEqual(FAULT_KINDS)
})

test.each(['backoff', 'jitter'] as const)('every choice of --%s is one that a policy takes', (field) => {
  const choices = POLICY_FLAGS.find((flag) => flag.field === field)?.choices ?? []
  expect(choices.length).toBeGreaterThan(3)
  for (const word of choices) expect(problemsOf(() => readPolicyFlags({ [field]: word }))).toEqual([])
})

test('every field of a scenario has a flag', () => {
  const texts: ScenarioFlagTexts = {
    ...{ faultShare: '0.3', keyed: true, burst: '500', restartAt: '40s', ignoresSignal: true, neighbours: '.2' },
    ...{ failRate: '0.01', outage: '10s' },
  }
  expect(readScenarioFlags(texts).scenario).toMatchObject({
    ...{ faultShare: 0.3, keyed: true, burst: 500, restartAt: 40_000, ignoresSignal: true, neighbours: 0.2 },
    ...{ errorRate: 0.01, during: 10_000 },
  })
})

test('a field is named by its flag, with the value that is proposed', () => {
  expect([flagWords('during', '1m'), flagWords('queue', '4s'), flagWords('attemptTimeout', '1s')]).toEqual([
    ...['--outage 1m', '--queue 4s', '--attempt-timeout 1s'],
  ])
  expect(flagWords('amount')).toBe('--amount')
})

test.each<[ScenarioFlagTexts, string, string?]>([
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
  ['during', '172800000 is not a duration such as 20ms', '--outage: 2d is not a duration such as 20ms'],
  ['errorRate', '2 is not a number', '--fail-rate: 2 is not a number'],
  ['faultShare', '0 is not a number', '--fault-share: 0 is not a number'],
  ['clients', '0 is not a number', '--clients: 0 is not a number'],
  ['', '9 calls are too many', '9 calls are too many for a simulation'],
])('what the simulator says of %j, %j, names the flag', (path, said, message) => {
  const refused = new OptionsError('simulate', [
    { path, message: said, suggestion: 'lower capacity, load or the times' },
  ])
  const suggestion = 'lower `--capacity`, `--load` or `--outage`'
  expect(problemsOf(() => refuseScenario(refused))).toEqual([{ message, suggestion }])
})

test('an error that is no fault of the scenario is thrown as it is', () => {
  const bug = new TypeError('boom')
  expect(() => refuseScenario(bug)).toThrow(bug)
})

test('options that the library refuses are named by their flags', () => {
  const refused = new OptionsError('grantBudget', [{ path: 'amount', message: '1.5 is not a whole number' }])
  expect(problemsOf(() => refuseOptions(refused))).toEqual([{ message: '--amount: 1.5 is not a whole number' }])
  expect(() => refuseOptions(new TypeError('boom'))).toThrow('boom')
})
