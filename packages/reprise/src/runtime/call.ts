/**
 * What a call does: the in-process driver of `decide` and `admit`. It waits, launches and settles; it decides nothing.
 *
 * Invariants: the promise settles once; after that no attempt starts and no timer, listener or place in line is left;
 * whatever still runs is only waited for to give its budget back. A light call is made at its first failure and
 * returned as a thenable from the rejection handler, so that a pending retry is this one object.
 * Imports core and the runtime's parts.
 */
import type { Decision } from '../core/budget.js'
import { type Admission, admit, advance, decide, type RetryGates, type Start, type Verdict } from '../core/decide.js'
import { ResultError } from '../core/errors.js'
import { mayStateRetryAfter, retryAfterMs } from '../core/retry-after.js'
import type { Timer } from '../core/time.js'
import type { StopReason } from '../core/words.js'
import { type AsyncScope, captureScope, runIn } from './async-context.js'
import { Attempt } from './attempt.js'
import { CallRecord, type Failed } from './call-record.js'
import { Context, FIRST, type Launch, type Operation, outcomeOf } from './context.js'
import { oldestStartMs, type Past } from './history.js'
import { classify, countsAsFailure } from './hooks.js'
import type { Inspector } from './inspection.js'
import { Parking } from './parking.js'
import type { Plan } from './plan.js'
import { Race } from './race.js'
import { rememberTimeline } from './rejection.js'
import { Session } from './session.js'
import * as events from './call-events.js'

export type Settle = (value: unknown) => void

/** Nobody waits for the call yet: it was made in a rejection handler and has not been adopted by its promise. */
const unattached: Settle = () => undefined

const relaunch = (call: Call): void => call.launch()

export class Call extends CallRecord implements RetryGates, Timer {
  private readonly operation: Operation<unknown>
  private scope: AsyncScope | null = null
  private resolve: Settle = unattached
  /** Absent on a light call: a pending retry keeps one function less, and an end in failure is rare. */
  private reject: Settle | undefined = undefined

  constructor(plan: Plan, operation: Operation<unknown>, history: Past | null) {
    super(plan, history)
    this.operation = operation
  }

  // ── beginnings ─────────────────────────────────────────────────────────────────────────────────

  /** The promise of a new call with a session; `begin` starts it. */
  static open(
    plan: Plan,
    operation: Operation<unknown>,
    signal: AbortSignal | undefined,
    inspector: Inspector | null,
    begin: (call: Call) => void,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const call = new Call(plan, operation, null)
      call.attach(captureScope(), resolve, reject)
      plan.environment.beginStretch()
      try {
        call.session = new Session(call, signal, inspector)
        begin(call)
      } finally {
        plan.environment.endStretch()
      }
    })
  }

  /** Begins with the first attempt, unless `reason` says that it must not. */
  begin(reason: StopReason | undefined): void {
    if (this.plan.environment.observed) events.started(this)
    const refusal = this.aborted ? 'aborted' : reason
    if (refusal !== undefined) {
      this.stop(refusal)
    } else if (this.ending === null) {
      this.session?.open()
      this.launch()
    }
  }

  /** Begins with what was said to a first attempt that was asked for before there was a call. */
  beginWith(first: Attempt, admission: Admission): void {
    first.call = this
    this.session?.open()
    this.followAdmission(first, admission)
  }

  /** The first attempt of a light call has failed: the call itself as a thenable, or how it ended. */
  afterFirstFailure(): unknown {
    this.launched = 1
    this.goOn(this.history as Past, FIRST)
    const { ending, session } = this
    if (ending === null) return this
    if (session?.inspector) return session.inspector.failed(ending.error, this)
    throw ending.error
  }

  /** The timed first attempt of a light call has failed, or still runs though its time is over. */
  takeOver(first: Attempt, begunMs: number, running: boolean, inspector: Inspector | null): void {
    this.launched = 1
    this.session = new Session(this, undefined, inspector, first.startMs, begunMs)
    if (running) this.session.running.push(first)
    this.session.open()
  }

  attach(scope: AsyncScope | null, resolve: Settle, reject: Settle): void {
    this.scope = scope
    this.resolve = resolve
    this.reject = reject
  }

  /** The promise machinery adopts a light call. */
  // oxlint-disable-next-line unicorn/no-thenable -- being adopted by its promise is what the method is for
  then(resolve: Settle): void {
    this.resolve = resolve
    this.pause()
  }

  // ── before an attempt ──────────────────────────────────────────────────────────────────────────

  launch(): void {
    const attempt = new Attempt(this.plan, this, this.attempt, this.launched + 1, 'retry')
    attempt.delayBeforeMs = this.lastDelayMs
    this.enter(attempt)
  }

  /** A hedge is due. One that is refused is recorded, if a budget refused it, and ends nothing. */
  launchHedge(): void {
    if (this.plan.breaker?.closed === false) return
    const attempt = new Attempt(this.plan, this, this.attempt, this.launched + 1, 'hedge')
    this.inScope(() => this.enter(attempt))
  }

  private enter(attempt: Attempt): void {
    const { environment } = this.plan
    let admission: Admission
    environment.actor = this
    try {
      admission = admit(this, attempt)
    } finally {
      environment.actor = undefined
    }
    if (this.ending === null) this.followAdmission(attempt, admission)
    else if (admission.type === 'start') this.unused(attempt, admission)
  }

  /** Whoever was asked ended the call meanwhile: slot and grant go back. */
  private unused(attempt: Attempt, start: Start): void {
    this.plan.breaker?.giveBack(start.epoch)
    attempt.returnGrant(start.decision)
  }

  private followAdmission(attempt: Attempt, admission: Admission): void {
    if (admission.type === 'start') {
      attempt.epoch = admission.epoch
      attempt.breakerPhase = admission.breaker
      this.start(attempt)
    } else if (admission.type === 'park') {
      this.park(attempt)
    } else {
      if (attempt.grant !== undefined) attempt.returnGrant(attempt.grant)
      if (admission.reason === 'budget_denied') this.recordDenied(attempt)
      if (attempt.kind === 'retry') this.stop(admission.reason)
    }
  }

  private start(attempt: Attempt): void {
    const { environment, policy } = this.plan
    const { session } = this
    this.launched = attempt.launch
    this.record(attempt)
    attempt.startMs = this.nowMs()
    attempt.context = new Context(this.plan, attempt, this.failure?.error, this.session)
    session?.running.push(attempt)
    if (environment.observed) events.attemptStarted(this, attempt)
    if (attempt.result !== undefined) {
      // An observer ended the call: the operation is not called.
      attempt.release()
      return
    }
    // Not from `startMs`: observers may have taken long since.
    if (policy.attemptTimeoutMs !== undefined) environment.scheduleIn(attempt, policy.attemptTimeoutMs)
    if (session !== null && policy.hedge !== undefined && attempt.kind === 'retry') {
      session.race = new Race(this, policy.hedge, attempt)
    }
    environment.endStretch()
    void outcomeOf(this.operation, attempt.context).then(
      (value) => this.ended(true, attempt, value),
      (error) => this.ended(false, attempt, error),
    )
  }

  // ── after an attempt ───────────────────────────────────────────────────────────────────────────

  private ended(succeeded: boolean, attempt: Attempt, result: unknown): void {
    const { environment } = this.plan
    environment.beginStretch()
    try {
      if (succeeded) this.fulfilled(attempt, result)
      else this.rejected(attempt, result)
    } finally {
      environment.endStretch()
    }
  }

  private fulfilled(attempt: Attempt, value: unknown): void {
    if (attempt.result !== undefined) {
      attempt.release()
      return
    }
    const failed = countsAsFailure(this.plan, value)
    const threw = typeof failed === 'object' && !this.recovers(failed)
    if (this.ending !== null) {
      attempt.release()
    } else if (failed === true) {
      this.rejected(attempt, new ResultError(this.key, value))
    } else if (threw) {
      this.conclude(attempt, 'failure', failed.error)
      attempt.release()
      this.fail('not_retryable', failed.error)
    } else {
      // A success stays one, whatever those do who hear of it: from here on an abort comes too late.
      this.session?.close()
      this.conclude(attempt, 'success', undefined)
      attempt.release()
      this.plan.latency?.add(attempt.endMs - attempt.startMs)
      if (this.ending === null) this.succeed(attempt, value)
    }
  }

  private rejected(attempt: Attempt, error: unknown): void {
    if (attempt.result !== undefined) {
      attempt.release()
      return
    }
    this.conclude(attempt, 'failure', error)
    attempt.release()
    if (this.ending === null) this.goOn(attempt, attempt)
  }

  /** The attempt timeout has come: the call goes on without the operation, which keeps its budget until it settles. */
  timedOut(attempt: Attempt, error: unknown): void {
    this.inScope(() => {
      this.conclude(attempt, 'timeout', error)
      Context.abort(attempt.context as Context, error)
      if (this.ending === null) this.goOn(attempt, attempt)
    })
  }

  /** An attempt has failed and is concluded: what now? */
  goOn(failed: Failed, launch: Launch): void {
    const { plan, session } = this
    const { error } = failed
    const classified = classify(plan, error, launch)
    if (this.ending !== null) return
    let retryable = classified === true
    if (typeof classified === 'object' && !this.recovers(classified)) {
      this.fail('not_retryable', classified.error)
      return
    }
    let waitMs = mayStateRetryAfter(error) ? retryAfterMs(error, plan.environment.clock.wallMs()) : undefined
    this.failure = failed
    const race = session?.race
    if (session && race) {
      if (!race.ended(retryable ? 'retryable' : 'not_retryable', failed, waitMs, session.running.length)) return
      this.failure = race.deciding ?? failed
      this.concludeRunning('aborted', this.failure.error)
      retryable = race.held === 'retryable'
      waitMs = race.retryAfterMs
    }
    const verdict = this.verdict(retryable, waitMs)
    if (verdict !== undefined && this.ending === null) this.followVerdict(verdict)
  }

  private verdict(retryable: boolean, waitMs: number | undefined): Verdict | undefined {
    const { environment, policy } = this.plan
    const outcome = { type: 'failure', retryable, retryAfterMs: waitMs } as const
    try {
      // A wait counts from the moment; where there can be none, the time of the turn will do.
      const now = this.plan.waitless ? this.nowMs() : environment.exactMs()
      return decide(policy, this, outcome, now, environment.draw, this)
    } catch (error) {
      // The source of randomness threw.
      this.fail('not_retryable', error)
      return undefined
    }
  }

  private followVerdict(verdict: Verdict): void {
    if (verdict.type === 'stop') this.stop(verdict.reason)
    if (verdict.type !== 'retry') return
    advance(this, verdict)
    this.dueAtMs = verdict.dueAtMs
    // What goes on without a wait goes on in a microtask of its own, which keeps the context by itself.
    if (!this.goesOnAtOnce()) this.scope ??= captureScope()
    if (this.plan.environment.observed) events.waiting(this, this.failure?.error)
    if (this.resolve !== unattached && this.ending === null) this.pause()
  }

  /** In the async context of whoever made the call, not of whoever fired the timer or gave the grant. */
  inScope(act: () => void): void {
    runIn(this.scope, act, undefined)
  }

  private pause(): void {
    const { environment } = this.plan
    if (this.goesOnAtOnce()) environment.soon(this)
    else environment.schedule(this, this.dueAtMs)
  }

  /** An operation that timed out still has to hear of it and let go, which takes a few microtasks. */
  private goesOnAtOnce(): boolean {
    return this.lastDelayMs === 0 && !this.lastTimedOut()
  }

  /** The wait is over. */
  fire(): void {
    if (this.ending === null) runIn(this.scope, relaunch, this)
  }

  // ── the line ───────────────────────────────────────────────────────────────────────────────────

  private park(attempt: Attempt): void {
    const { environment } = this.plan
    this.session ??= new Session(this, undefined, null, oldestStartMs(this.history))
    this.scope ??= captureScope()
    if (environment.observed) events.parked(this, attempt)
    if (this.ending !== null) return
    this.session.parking = new Parking(this, attempt)
    try {
      this.session.parking.join()
    } catch (error) {
      this.session.parking = null
      this.granted(attempt, attempt.panic(error))
    }
  }

  /** The line is left: with a grant, or with the reason why there is none. */
  granted(attempt: Attempt, answer: Decision): void {
    if (this.session !== null) this.session.parking = null
    if (this.ending !== null) {
      attempt.returnGrant(answer)
      return
    }
    const grant = attempt.checkGrant(answer)
    attempt.grant = grant
    attempt.decision = grant
    if (attempt.decider !== undefined) this.tellDecision(attempt, attempt.decider, 'grant', grant)
    if (grant.allowed) {
      this.enter(attempt)
    } else {
      this.recordDenied(attempt)
      this.stop('budget_denied')
    }
  }

  // ── endings ────────────────────────────────────────────────────────────────────────────────────

  abortedBy(reason: unknown): void {
    if (this.ending !== null) return
    this.concludeRunning('aborted', reason)
    this.stop('aborted')
  }

  deadlineCame(): void {
    if (this.ending !== null) return
    this.inScope(() => {
      const error = this.rejection('timeout')
      this.concludeRunning('timeout', error)
      this.fail('timeout', error)
    })
  }

  private succeed(winner: Attempt, value: unknown): void {
    this.close(undefined, undefined, undefined)
    this.concludeRunning('aborted', 'winner')
    if (this.plan.environment.observed) events.succeeded(this, winner.attempt)
    const inspector = this.session?.inspector
    this.resolve(inspector ? inspector.succeeded(value, this) : value)
  }

  private stop(reason: StopReason): void {
    this.fail(reason, this.rejection(reason))
  }

  private fail(reason: StopReason, error: unknown): void {
    if (this.ending !== null) return
    const budgetReason = reason === 'budget_denied' ? this.denial()?.reason : undefined
    this.close(reason, budgetReason, error)
    this.concludeRunning('aborted', error)
    rememberTimeline(error, this)
    if (this.plan.environment.observed) events.failed(this, reason, budgetReason, error)
    const inspector = this.session?.inspector
    if (inspector) this.resolve(inspector.failed(error, this))
    else if (this.reject !== undefined) this.reject(error)
    else if (this.resolve !== unattached) this.resolve(Promise.reject(error))
  }

  private close(stopReason: StopReason | undefined, budgetReason: string | undefined, error: unknown): void {
    this.ending = { stopReason, budgetReason, error, endMs: this.nowMs(), timeline: undefined }
    this.plan.environment.cancel(this)
    this.session?.close()
    this.scope?.emitDestroy()
  }
}
