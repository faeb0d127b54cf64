import { normalizePolicy, type PolicyInput } from 'reprise'
import { type Report, type ScenarioInput, wellKnown } from 'reprise/simulate'
import { completeScenario } from 'reprise/internal/simulate'
import { expect, test } from 'vitest'
import { readBudgetFlag } from '../document/budget-section.js'
import { parseSource } from '../document/source.js'
import { policyInput } from '../plan/policy-input.js'
import { chooseCompared } from './compared.js'
import type { FieldWords } from './field-words.js'
import { readFilePolicy } from './file-policy.js'
import { notesOn } from './notes.js'
import { scenarioWords } from './scenario-words.js'
import { runSimulation, type Simulation } from './simulation.js'
import { limitsOf, type UnderTest, underTest } from './under-test.js'
import { verdictOn } from './verdict.js'

const SMALL: ScenarioInput = { clients: 20, capacity: 200, during: '10s' }
const words: FieldWords = (field, value) => (value === undefined ? field : `${field}: ${value}`)

async function tested(
  text: string | undefined,
  { budget, ...fields }: Omit<PolicyInput, 'budget'> & { readonly budget?: string } = {},
): Promise<UnderTest> {
  const file = text === undefined ? undefined : await readFilePolicy(parseSource('f.yaml', text), undefined)
  const definition = budget === undefined ? undefined : readBudgetFlag('budget', budget)
  return underTest(file, { title: 'what was given', fields, budget: definition }, words)
}

function simulated(under: UnderTest, given: ScenarioInput = {}, seed = 1, compare = 'none'): Simulation {
  const compared = chooseCompared(compare, wellKnown(limitsOf(under.policy)), under.subject.name)
  return runSimulation({ scenario: { ...SMALL, ...given }, seed, under, compared, words }, () => undefined)
}

// ── the policy under test ────────────────────────────────────────────────────────────────────────

test('without anything it is the recommended policy, with limits that a queue can outlast', async () => {
  const { subject, policy } = await tested(undefined)
  expect(subject.name).toBe('recommended')
  expect(policy).toMatchObject({ attemptTimeoutMs: 1000, timeoutMs: 10_000 })
})

test('limits alone are those of the recommended policy, other flags are a policy of their own', async () => {
  expect(await tested(undefined, { attemptTimeout: '3s' })).toMatchObject({
    subject: { name: 'recommended' },
    policy: { attemptTimeoutMs: 3000, timeoutMs: 10_000 },
  })
  expect(await tested(undefined, { budget: 'ratio' })).toMatchObject({ subject: { name: 'yours' } })
  expect(await tested(undefined, { attempts: 2 })).toMatchObject({
    subject: { name: 'yours' },
    policy: { attempts: 2 },
  })
})

test('flags go over the fields of a file', async () => {
  const { policy } = await tested('attempts: 5\nmax_delay: 3s\nbackoff: {linear: {increment: 2s}}', { maxDelay: '7s' })
  expect(policy).toMatchObject({ attempts: 5, maxDelayMs: 7000, backoff: { type: 'linear', incrementMs: 2000 } })
})

test.each<PolicyInput>([
  {},
  { backoff: { custom: { delays: ['1s', '2s'] } }, jitter: true, jitterFactor: 0.5 },
  { backoff: { custom: { formula: 'initial * attempt' } }, retryOn: ['network', { pattern: 'x' }, { exitCode: [75] }] },
  { backoff: 'fibonacci', jitter: 'decorrelated', retryBudget: '1m', maxRetryAfter: '5s' },
  { breaker: { key: 'k', failureThreshold: 2, recoveryTimeout: '1s' }, budget: { name: 'b', cost: 2 } },
  { hedge: { delay: '10ms', budget: 'share' }, budget: 'b' },
  { hedge: { percentile: 95, maxHedges: 2, budget: { name: 'h', cost: 3, share: true } } },
])('%j, read and written and read again, is the same policy', (input) => {
  const { policy } = normalizePolicy(input)
  expect(normalizePolicy(policyInput(policy)).policy).toEqual(policy)
})

test('a budget is the one that the file defines', async () => {
  const { subject, summary, notes } = await tested(
    'budget: api\nbudgets: {api: {type: adaptive, bulkhead: true, maxPark: 1s}}',
  )
  expect(Object.keys(subject.budgets ?? {})).toEqual(['api'])
  expect(summary).toContain('asks budget api (adaptive, bulkhead, max park 1s)')
  expect(notes).toEqual([])
})

test('a budget that the file only names is that of the flag', async () => {
  const { subject, notes } = await tested('budget: api', { budget: 'adaptive' })
  expect(Object.keys(subject.budgets ?? {})).toEqual(['api'])
  expect(notes).toEqual([])
})

test('a policy without a budget gets that of the flag', async () => {
  const { policy, summary } = await tested('attempts: 4', { budget: 'ratio' })
  expect(policy.budget).toEqual({ name: 'ratio', cost: 1 })
  expect(summary).toMatch(/asks budget ratio$/)
})

test('a flag that a definition makes useless is said to be so', async () => {
  const { notes } = await tested('budget: api\nbudgets: {api: {type: ratio}}', { budget: 'adaptive' })
  expect(notes).toEqual(['`budget` is not used: the file defines budget api.'])
})

test('a budget that nobody defines is left out, and said to be', async () => {
  const { subject, notes } = await tested(
    'budget: apis\nhedge: {delay: 1s, budget: other}\nbudgets: {api: {type: ratio}}',
  )
  expect(subject.budgets).toEqual({})
  expect(notes).toEqual([
    'Budget apis is not defined here, so the policy is simulated without it. Did you mean api?',
    'Budget other is not defined here, so the policy is simulated without it. Define it under `budgets:`, or give `budget: adaptive`.',
  ])
})

test('keys that nobody has looked at, and what is odd in a policy, are noted', async () => {
  const { notes } = await tested('retry: {max_delay: 10ms}\nname: x')
  expect(notes).toEqual([
    expect.stringContaining('maximum delay 10ms is below the initial delay'),
    'Not looked at: `name`.',
  ])
})

// ── compared ─────────────────────────────────────────────────────────────────────────────────────

const names = (text: string | undefined, under = 'yours'): string[] =>
  chooseCompared(text, wellKnown(), under).map(({ name }) => name)

test('usually a handful is compared, and never the policy with itself', () => {
  expect(names(undefined)).toEqual(expect.arrayContaining(['none', 'exponential-5', 'recommended']))
  expect(names(undefined, 'recommended')).not.toContain('recommended')
  expect(names(undefined).length).toBeLessThan(names('all').length)
})

test('names are taken in their order; none alone is nobody, and no-retry the policy of that name', () => {
  expect(names('recommended, none,,none')).toEqual(['recommended', 'none'])
  expect(names('none')).toEqual([])
  expect(names('no-retry')).toEqual(['none'])
})

test('every unknown name is told, with the nearest', () => {
  expect(() => names('exponential5,zzzz')).toThrow(/"exponential5".*"zzzz"/)
  try {
    names('exponential5,zzzz')
  } catch (error) {
    expect(error).toMatchObject({
      problems: [{ suggestion: 'did you mean `exponential-5`?' }, { suggestion: expect.stringContaining('none, ') }],
    })
  }
})

// ── notes ────────────────────────────────────────────────────────────────────────────────────────

const noted = (policy: PolicyInput, scenario: ScenarioInput = {}): string[] =>
  notesOn(normalizePolicy(policy).policy, completeScenario(scenario), words)

test('nothing that would mislead goes without a note', () => {
  expect(noted({})).toEqual([expect.stringContaining('Nothing ends an attempt that hangs')])
  expect(noted({ attemptTimeout: '3s' })).toEqual([expect.stringContaining('`queue: 6s`')])
  expect(noted({ attemptTimeout: '1s', retryOn: ['network'] })).toEqual([
    expect.stringContaining('`retry_on` does not name timeout'),
  ])
})

test('what misleads nobody goes without a note', () => {
  expect(noted({ attemptTimeout: '1s', retryOn: ['timeout'] })).toEqual([])
  expect(noted({ attemptTimeout: '3s' }, { queue: '5s' })).toEqual([])
  expect(noted({ retryOn: ['network'] }, { fault: 'refuse' })).toEqual([])
  expect(noted({}, { fault: 'none' })).toEqual([])
})

// ── words ────────────────────────────────────────────────────────────────────────────────────────

test.each<[ScenarioInput, string]>([
  [{}, '100 clients offer 750 calls/s to a server for 1000/s, which hangs for 30s.'],
  [
    { clients: 1, fault: 'refuse' },
    '1 client offers 750 calls/s to a server for 1000/s, which refuses everything for 30s.',
  ],
  [{ fault: 'capacity', amount: 0.25 }, 'which can do 25 % of that for 30s.'],
  [{ fault: 'slow', during: '1m' }, 'which takes 3 times as long for 1m.'],
  [{ fault: 'errors', errorRate: 0.05 }, 'which fails 20 % of the calls for 30s; 5 % of all answers fail by chance.'],
  [{ fault: 'flap' }, 'which hangs by turns of 2s, for 30s.'],
  [{ fault: 'none' }, 'to which nothing happens.'],
  [
    { faultShare: 0.1, burst: 500, neighbours: 0.3 },
    'which hangs for 30s, in 10 % of its traffic; 500 calls come at once when that starts; 30 % of the clients retry without a budget.',
  ],
  [
    { restartAt: '40s', ignoresSignal: true },
    'which hangs for 30s; all clients are new after 40s; what callers have given up is still answered.',
  ],
])('%o in words', (scenario, sentence) => {
  expect(scenarioWords(completeScenario(scenario))).toContain(sentence)
})

function reportWith(changes: Partial<Report>): Report {
  return {
    ...{ name: 'x', calls: 1000, attempts: 2000, wasted: 0, extra: 0, goodput: null, recoveryMs: 1000 },
    ...{ backMs: 1000, parts: null },
    amplification: { worst: 1, mean: 1 },
    success: { total: 0.8, during: 0, after: 1, throughout: 0.8 },
    latencyMs: { p50: 10, p99: 20 },
    seconds: { calls: [750], attempts: [750], useful: [750] },
    ...changes,
  }
}

const verdict = (changes: Partial<Report>, scenario: ScenarioInput = {}, ...others: Report[]): string =>
  verdictOn(completeScenario(scenario), [reportWith(changes), ...others]).join(' ')

test.each<[string, Partial<Report>, ScenarioInput, string]>([
  ['a calm one', {}, {}, 'Stays at 1.00× the load in the hang, and is back 1s after it.'],
  [
    'one that waits',
    { amplification: { worst: 1, mean: 0.3 }, recoveryMs: 0, goodput: 0.81 },
    { fault: 'capacity' },
    'Takes load off the server in the brown-out, down to 0.30× on average, and is back as soon as it is over. In it, 81.0 % of the possible calls succeed.',
  ],
  [
    'one that storms and ends',
    { amplification: { worst: 8.73, mean: 1.4 }, recoveryMs: 65_000 },
    {},
    'Multiplies the load by up to 8.73 in the hang, and is back 1m5s after it.',
  ],
  [
    'one that collapses',
    {
      recoveryMs: null,
      success: { total: 0.1, during: 0, after: 0, throughout: 0.1 },
      seconds: { calls: [], attempts: [3800], useful: [] },
    },
    {},
    'Collapses: after the hang the server stays overloaded, with 3800 attempts/s for 1000 that it can do; 2m later no call succeeds.',
  ],
  [
    'one that almost collapses',
    {
      recoveryMs: null,
      seconds: { calls: [750], attempts: [3800], useful: [15] },
    },
    {},
    'Collapses: after the hang the server stays overloaded, with 3800 attempts/s for 1000 that it can do; 2m later 2.0 % of the calls succeed.',
  ],
  [
    'one that is worse than before, without overload',
    { recoveryMs: null, success: { total: 0.8, during: 0, after: 0.8, throughout: 0.8 } },
    {},
    'Does not get back to normal within 2m: 80.0 % of the calls succeed in the minute after the hang.',
  ],
  [
    'no fault',
    {},
    { fault: 'none' },
    'Nothing happens to the server: 80.0 % of the calls succeed, with 2.00 attempts each.',
  ],
  [
    'a fault of no time',
    {},
    { during: 0 },
    'Nothing happens to the server: 80.0 % of the calls succeed, with 2.00 attempts each.',
  ],
])('the verdict on %s', (_, changes, scenario, sentence) => {
  expect(verdict(changes, scenario)).toBe(sentence)
})

test('others that never recover are named, if they are few', () => {
  const lost = ['a', 'b', 'c', 'd', 'e'].map((name) => reportWith({ name, recoveryMs: null }))
  expect(verdict({}, {}, reportWith({}), ...lost.slice(0, 1))).toMatch(/Of the others, a never recovers\.$/)
  expect(verdict({}, {}, ...lost.slice(0, 3))).toMatch(/Of the others, a, b and c never recover\.$/)
  expect(verdict({}, {}, reportWith({}), ...lost)).toMatch(/Of the 6 others, 5 never recover\.$/)
})

// ── the storm ────────────────────────────────────────────────────────────────────────────────────

test('five attempts with backoff and jitter collapse, and a budget of the same file prevents it', async () => {
  const text = 'attempts: 5\ninitial_delay: 100ms\njitter: full\nattempt_timeout: 1s\ntimeout: 10s\n'
  const bare = simulated(await tested(text))
  expect(bare.policies[0].recoveryMs).toBeNull()
  expect(bare.verdict[0]).toMatch(/^Collapses: /)
  const kept = simulated(await tested(`${text}budget: api\nbudgets: {api: {type: adaptive, bulkhead: true}}`))
  expect(kept.policies[0].recoveryMs).toBeLessThanOrEqual(3000)
  expect(kept.policies[0].amplification.worst).toBeLessThan(1.5)
})

test('the policy under test comes first, then those it is compared with, with the same limits', async () => {
  const under = await tested('attempts: 1\nattempt_timeout: 5s')
  const { policies } = simulated(under, {}, 1, 'no-retry')
  expect(policies.map(({ name, isSubject }) => [name, isSubject])).toEqual([
    ['yours', true],
    ['none', false],
  ])
  // Neither retries, and both wait 5s: what differs is the timeout of the call, which 5s never reach.
  expect(policies[0].success).toEqual(policies[1]?.success)
})

test('the same seed gives the same data, another seed other data', async () => {
  const under = await tested(undefined)
  const run = (seed: number): string => JSON.stringify(simulated(under, {}, seed))
  expect(run(7)).toBe(run(7))
  expect(run(8)).not.toBe(run(7))
})

test('the scenario of a simulation has nothing left out', async () => {
  const { scenario } = simulated(await tested(undefined))
  expect(scenario).toEqual(completeScenario(SMALL))
})

test('an amount of a fault that has none is said to be unused', async () => {
  const under = await tested(undefined)
  expect(simulated(under, { fault: 'capacity', amount: 0.25 })).toMatchObject({ scenario: { amount: 0.25 }, notes: [] })
  expect(simulated(under, { amount: 2 }).notes).toEqual(['`amount` has no effect on the fault hang.'])
})
