/** One random call: how it is made, what its operation does, when it is aborted, and what was seen of it. */
import type { AttemptContext, Executor, PolicyInput, Timeline } from '../../packages/reprise/src/index.js'
import { timelineOf } from '../../packages/reprise/src/index.js'
import type { VirtualClock } from '../../packages/reprise/src/testing/index.js'
import type { Chance } from './executor-chance.js'
import type { Seen, ObservedCall } from './executor-checks.js'

class ServerBusy extends Error {
  readonly retryAfterMs: number

  constructor(retryAfterMs: number) {
    super('busy')
    this.retryAfterMs = retryAfterMs
  }
}

const BEHAVIOURS = [
  'value',
  'bad',
  'late',
  'late',
  'throw',
  'throw',
  'reject',
  'late reject',
  'busy',
  'final',
  'deaf',
  'polite',
  'nothing thrown',
] as const

export class RandomCall implements ObservedCall {
  readonly seen: Seen[] = []
  readonly signals: AbortSignal[] = []
  result: { readonly ok: boolean; readonly value: unknown } | undefined
  timeline: Timeline | undefined
  startedMs = 0
  endedMs = 0
  readonly policy: PolicyInput
  readonly key: string
  readonly abort: AbortController | undefined
  private readonly executor: Executor
  private readonly clock: VirtualClock
  private readonly chance: Chance

  constructor(
    executor: Executor,
    clock: VirtualClock,
    chance: Chance,
    key: string,
    policy: PolicyInput,
    shared: AbortController,
  ) {
    this.executor = executor
    this.clock = clock
    this.chance = chance
    this.key = key
    this.policy = policy
    this.abort = chance.oneOf([undefined, undefined, shared, new AbortController()])
    if (this.abort !== undefined) this.signals.push(this.abort.signal)
  }

  async run(): Promise<void> {
    const { chance, clock, executor, key } = this
    await clock.sleep(chance.whole(0, 300))
    this.startedMs = clock.wallMs()
    const options = this.abort === undefined ? undefined : { signal: this.abort.signal }
    if (this.abort !== undefined && chance.percent(30)) this.abortSometime(this.abort)
    const operation = (context: AttemptContext): unknown => this.operate(context)
    if (chance.percent(60)) {
      const inspection = await executor.inspect(key, operation, options)
      this.end(inspection.ok, inspection.ok ? inspection.value : inspection.error, inspection.timeline)
      return
    }
    try {
      this.end(true, await executor.run(key, operation, options), undefined)
    } catch (error) {
      // The reason of an abort is shared by every call that heard it: its timeline may be another's.
      this.end(false, error, error === this.abort?.signal.reason ? undefined : timelineOf(error))
    }
  }

  private end(ok: boolean, value: unknown, timeline: Timeline | undefined): void {
    this.endedMs = this.clock.wallMs()
    this.result = { ok, value }
    this.timeline = timeline
  }

  private abortSometime(controller: AbortController): void {
    const afterMs = this.chance.whole(-5, 60)
    if (afterMs < 0) controller.abort(new Error('before'))
    else
      this.clock.schedule({ fire: () => controller.abort(new Error('meanwhile')) }, this.clock.monotonicMs() + afterMs)
  }

  private operate(context: AttemptContext): unknown {
    const seen: Seen = {
      attempt: context.attempt,
      launch: context.launch,
      kind: context.kind,
      startMs: this.clock.wallMs(),
      afterEnd: this.result !== undefined,
      error: undefined,
    }
    this.seen.push(seen)
    if (context.remainingMs !== undefined && !(context.remainingMs > 0)) seen.afterEnd = true
    if (this.abort !== undefined && this.chance.percent(1)) this.abort.abort(new Error('from within'))
    return this.behave(context, seen)
  }

  private behave(context: AttemptContext, seen: Seen): unknown {
    const { chance, clock } = this
    const fail = (error: unknown): never => {
      seen.error = error
      throw error
    }
    const ms = chance.oneOf([0, 1, 3, 10, 30])
    const value = { by: context.launch }
    switch (chance.oneOf(BEHAVIOURS)) {
      case 'value':
        return chance.percent(50) ? value : Promise.resolve(value)
      case 'bad':
        return 'bad'
      case 'late':
        return clock.sleep(ms).then(() => value)
      case 'throw':
        return fail(new Error('thrown'))
      case 'nothing thrown':
        return fail(undefined)
      case 'reject':
        return Promise.resolve().then(() => fail(new Error('rejected')))
      case 'late reject':
        return clock.sleep(ms).then(() => fail(new Error('rejected late')))
      case 'busy':
        return fail(new ServerBusy(chance.oneOf([0, 2, 20, 31])))
      case 'final':
        return clock.sleep(ms).then(() => fail(new RangeError('not retryable')))
      case 'deaf':
        return clock.sleep(chance.whole(20, 120)).then(() => (chance.percent(50) ? value : fail(new Error('at last'))))
      case 'polite': {
        this.signals.push(context.signal)
        return clock.sleep(chance.whole(1, 120), context.signal).then(() => value, fail)
      }
    }
  }
}
