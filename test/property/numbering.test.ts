/**
 * The two numbers of an execution, over random policies with hedges, denials, lines and breakers: `launch` is 1, 2, 3 … on
 * every timeline, and a denied launch uses its number up; `attempt` is 1, 2, 3 … up to the policy's, and a hedge has that of
 * its primary. Contexts, budgets, predicates, events and errors say what the timeline says.
 */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  AttemptTimeoutError,
  type Budget,
  type BudgetRequest,
  createExecutor,
  type Decision,
  type PolicyInput,
  type RepriseEvent,
  type Timeline,
} from '../../packages/reprise/src/index.js'
import { seededRandom, virtualClock, type VirtualClock } from '../../packages/reprise/src/testing/index.js'

interface Numbered {
  readonly attempt: number
  readonly launch: number
  readonly kind: 'retry' | 'hedge'
}

/** What an execution does: it takes this long, and succeeds, fails, or fails for good. */
interface Act {
  readonly ms: number
  readonly end: 'success' | 'failure' | 'fatal'
}

interface NumberingCase {
  readonly policy: PolicyInput
  readonly acts: readonly Act[]
  /** What the budgets answer, in turn: both kinds of denial, and a place in line. */
  readonly answers: readonly ('allow' | 'deny' | 'peek' | 'park and allow' | 'park and deny')[]
  readonly isObserved: boolean
}

const hedge = fc.record({
  delay: fc.constantFrom(0, 3, 10),
  maxHedges: fc.integer({ min: 1, max: 3 }),
  cancelOnFirstTerminal: fc.boolean(),
  budget: fc.constantFrom('spare', 'share', { name: 'spare', share: true }),
})
const breaker = fc.record({ failureThreshold: fc.integer({ min: 1, max: 6 }), recoveryTimeout: fc.constantFrom(5, 50) })
const policy: fc.Arbitrary<PolicyInput> = fc.record(
  {
    attempts: fc.integer({ min: 1, max: 5 }),
    budget: fc.constant('api'),
    hedge,
    breaker,
    attemptTimeout: fc.constantFrom(4, 25),
    timeout: fc.constantFrom(40, 200),
  },
  { requiredKeys: ['attempts', 'hedge'] },
)
const numbering: fc.Arbitrary<NumberingCase> = fc.record({
  policy,
  acts: fc.array(
    fc.record({
      ms: fc.constantFrom(0, 1, 8, 30),
      end: fc.constantFrom('failure', 'failure', 'failure', 'success', 'fatal'),
    }),
    { minLength: 1, maxLength: 12 },
  ),
  answers: fc.array(fc.constantFrom('allow', 'allow', 'allow', 'deny', 'peek', 'park and allow', 'park and deny'), {
    minLength: 1,
    maxLength: 12,
  }),
  isObserved: fc.boolean(),
})

/** Numbers that were told of one call, by whom. */
class Told {
  readonly contexts: Numbered[] = []
  readonly requests: Numbered[] = []
  readonly failures: Numbered[] = []
  readonly events: RepriseEvent[] = []
}

const numbersOf = ({ attempt, launch, kind }: Numbered): Numbered => ({ attempt, launch, kind })

const numbersAlone = ({ attempt, launch }: Numbered): object => ({ attempt, launch })

function budgetOf({ answers }: NumberingCase, told: () => Told, clock: VirtualClock): Budget {
  let asked = 0
  const hears = (request: BudgetRequest): void => void told().requests.push(numbersOf(request))
  const answer = (): NumberingCase['answers'][number] => answers[asked++ % answers.length] ?? 'allow'
  const parks = answers.some((one) => one.startsWith('park'))
  const allowAttempt = (request: BudgetRequest): Decision => {
    hears(request)
    const allowed = answer() === 'allow'
    return { allowed, reason: allowed ? 'allowed' : 'denied' }
  }
  if (!parks) return { allowAttempt, peek: (request) => (hears(request), answer() !== 'peek') }
  return {
    allowAttempt,
    settle: hears,
    park: (request, wake) => {
      hears(request)
      const allowed = answer() === 'park and allow'
      const grant = { fire: () => wake({ allowed, reason: 'out of the line' }) }
      clock.schedule(grant, clock.monotonicMs() + 2)
      return () => clock.cancel(grant)
    },
  }
}

/** Three calls one after the other, so that the breaker of the first is met by the others. */
async function play(one: NumberingCase): Promise<{ told: Told; timeline: Timeline }[]> {
  const clock = virtualClock()
  const calls: { told: Told; timeline: Timeline }[] = []
  let told = new Told()
  let executions = 0
  const fatal = new RangeError('fatal')
  const executor = createExecutor({
    clock,
    random: seededRandom(1),
    budgets: { api: budgetOf(one, () => told, clock), spare: budgetOf(one, () => told, clock) },
    observers: one.isObserved ? [{ onEvent: (event) => void told.events.push(event) }] : [],
    defaultPolicy: {
      ...one.policy,
      initialDelay: 5,
      retryOn: [(error, context) => (told.failures.push(numbersOf(context)), error !== fatal)],
    },
  })
  const operation = async (context: Numbered): Promise<string> => {
    told.contexts.push(numbersOf(context))
    const { ms, end } = one.acts[executions++ % one.acts.length] ?? { ms: 0, end: 'success' }
    await clock.sleep(ms)
    if (end === 'fatal') throw fatal
    if (end === 'failure') throw new Error('failed')
    return 'done'
  }
  for (let call = 0; call < 3; call++) {
    told = new Told()
    const inspection = executor.inspect('job', operation)
    await clock.runAll()
    calls.push({ told, timeline: (await inspection).timeline })
  }
  return calls
}

function check({ told, timeline }: { readonly told: Told; readonly timeline: Timeline }, attempts: number): void {
  const records = timeline.attempts
  expect(records.map(({ launch }) => launch)).toEqual(records.map((_, index) => index + 1))
  let attempt = 0
  for (const record of records) {
    if (record.kind === 'retry') attempt++
    expect(record.attempt).toBe(attempt)
  }
  expect(attempt).toBeLessThanOrEqual(attempts)

  const made = records.filter(({ outcome }) => outcome !== 'denied')
  expect(told.contexts).toEqual(made.map(numbersOf))
  for (const numbered of [...told.requests, ...told.failures]) {
    const record = records[numbered.launch - 1]
    // The next launch was asked about before its wait, and the breaker or the deadline ended the call.
    if (record === undefined)
      expect(numbered).toEqual({ attempt: attempt + 1, launch: records.length + 1, kind: 'retry' })
    else expect(numbered).toEqual(numbersOf(record))
  }
  for (const { error, outcome, ...record } of records) {
    if (outcome === 'timeout' && error instanceof AttemptTimeoutError) expect(error).toMatchObject(numbersAlone(record))
  }
  checkEvents(told.events, made)
}

function checkEvents(events: readonly RepriseEvent[], made: readonly Numbered[]): void {
  const attemptOf = new Map(made.map(({ attempt, launch }) => [launch, attempt]))
  for (const event of events) {
    if (!('launch' in event) || event.type === 'budget_decision' || event.type === 'parked') continue
    expect(event.attempt).toBe(attemptOf.get(event.launch))
  }
  const started = events.flatMap((event) => (event.type === 'attempt_started' ? [event] : []))
  const end = events.find(({ type }) => type === 'call_succeeded' || type === 'call_failed')
  if (end === undefined) return
  expect(started.map(numbersOf)).toEqual(made.map(numbersOf))
  expect(end).toMatchObject({ attemptsMade: made.at(-1)?.attempt ?? 0, launches: made.length })
}

test('launches are 1, 2, 3 … on every timeline, attempts those of the policy, and everybody is told the same', async () => {
  const seen = { hedges: 0, deniedHedges: 0, deniedRetries: 0, refusedByBreaker: 0 }
  await fc.assert(
    fc.asyncProperty(numbering, async (one) => {
      for (const call of await play(one)) {
        check(call, one.policy.attempts as number)
        for (const { kind, outcome } of call.timeline.attempts) {
          if (kind === 'hedge') seen.hedges++
          if (outcome === 'denied') seen[kind === 'hedge' ? 'deniedHedges' : 'deniedRetries']++
        }
        if (call.timeline.stopReason === 'breaker_open') seen.refusedByBreaker++
      }
    }),
    { numRuns: 500 },
  )
  // Otherwise the test would no longer test what it says.
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(20)
})
