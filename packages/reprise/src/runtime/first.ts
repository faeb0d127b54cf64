/**
 * The first attempt of a call that needs no race and no observer. As long as it succeeds there is no `Call`: without a
 * time limit it is a function call and one `.then`, with one a promise and an entry in the wheel beside. What else a
 * call may become is made when the attempt fails, times out or is refused. Imports core and the runtime's parts.
 *
 * Starts are kept in whole milliseconds of the monotonic clock: V8 keeps a small integer in the field itself, but makes
 * an object of every other number.
 */
import type { Budget } from '../core/budget.js'
import { type Admission, admit, type Start } from '../core/decide.js'
import { NO_BUDGET } from '../core/gate.js'
import { initialState } from '../core/state.js'
import { Attempt } from './attempt.js'
import { Call } from './call.js'
import { Context, FIRST, type Operation, outcomeOf } from './context.js'
import { FirstRefusal } from './first-refusal.js'
import type { Inspector } from './inspection.js'
import { PlainFailure } from './plain-failure.js'
import type { Plan } from './plan.js'
import { Session } from './session.js'
import { TimedFirst } from './timed-first.js'

const FRESH = Object.freeze(initialState(null))
const UNGATED: Start = Object.freeze({ type: 'start', epoch: 0, breaker: undefined, decision: NO_BUDGET })

/** A call that asks nobody and has no limit. */
export function runBare(plan: Plan, operation: Operation<unknown>): Promise<unknown> {
  const startTick = plan.environment.turnTick()
  return outcomeOf(operation, new Context(plan, FIRST, undefined, null)).then(undefined, (error: unknown) => {
    const first = new PlainFailure(plan, startTick, error)
    return new Call(plan, operation, first).afterFirstFailure()
  })
}

/** `inspector`: times are those of the moment, and the promise resolves to an inspection, never rejects. */
export function runFirst(plan: Plan, operation: Operation<unknown>, inspector: Inspector | null): Promise<unknown> {
  const admission = plan.gated ? admit(FRESH, plan.firstGates) : UNGATED
  const { budget } = plan.firstGates
  if (admission.type !== 'start') return refuseFirst(plan, operation, inspector, admission, budget)
  if (plan.timed) return new TimedFirst(plan, operation, inspector, admission, budget).run()
  return runUntimed(plan, operation, inspector, admission, budget)
}

function refuseFirst(
  plan: Plan,
  operation: Operation<unknown>,
  inspector: Inspector | null,
  admission: Exclude<Admission, Start>,
  budget: Budget | undefined,
): Promise<unknown> {
  if (admission.type === 'stop' && inspector === null) return rejected(new FirstRefusal(plan, admission).rejection())
  const attempt = new Attempt(plan, null, 1, 1, 'retry')
  attempt.budget = budget
  attempt.request = plan.firstGates.request
  if (admission.decision !== undefined) attempt.decision = admission.decision
  return Call.open(plan, operation, undefined, inspector, (call) => call.beginWith(attempt, admission))
}

const RESOLVED = Promise.resolve()

/** Rejects a microtask later, when the caller listens: the host makes much of a rejection that nobody has heard yet. */
function rejected(error: Error): Promise<never> {
  return RESOLVED.then(() => {
    throw error
  })
}

function runUntimed(
  plan: Plan,
  operation: Operation<unknown>,
  inspector: Inspector | null,
  start: Start,
  budget: Budget | undefined,
): Promise<unknown> {
  const started = startOf(plan, inspector)
  const failed = (error: unknown): unknown => {
    const { environment } = plan
    const first = Attempt.first(plan, start, budget, environment.msOf(started))
    first.end('failure', error, environment.exactMs())
    const call = new Call(plan, operation, first)
    if (inspector !== null) call.session = new Session(call, undefined, inspector, first.startMs)
    return call.afterFirstFailure()
  }
  const outcome = outcomeOf(operation, new Context(plan, FIRST, undefined, null))
  const quiet = inspector === null ? plan.firstGates.quietSuccess(start, budget) : undefined
  if (quiet !== undefined) return outcome.then(quiet, failed)
  return outcome.then((value) => {
    const startMs = plan.environment.msOf(started)
    const endMs = inspector === null ? 0 : plan.environment.exactMs()
    plan.firstGates.succeeded(start, budget, startMs)
    return inspector === null ? value : inspector.firstSucceeded(value, plan, start, startMs, endMs)
  }, failed)
}

/** On the monotonic clock: of the turn, in whole milliseconds, or exact where somebody looks. */
function startOf({ environment }: Plan, inspector: Inspector | null): number {
  return inspector === null ? environment.turnTick() : environment.clock.monotonicMs()
}
