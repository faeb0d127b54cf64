/** Budgets of the executor's random test: one that parks, and a wrapper that counts what was given and given back. */
import type { AttemptOutcome, Budget, BudgetRequest, Decision } from '../../packages/reprise/src/index.js'

/**
 * At most `max` attempts at a time; the others wait in line. A place is free when its attempt is settled, or already when
 * it is concluded. Waiting attempts are woken then, or when the line is polled.
 */
export class Line implements Budget {
  readonly maxParkMs: number
  inUse = 0
  private readonly max: number
  private readonly pollEveryMs: number
  private readonly freesAt: 'settle' | 'conclude'
  private readonly waiting: Array<{ readonly cost: number; readonly wake: (grant: Decision) => void }> = []
  private lastMs = 0

  constructor(max: number, grants: 'settle' | 'conclude' | 'poll', maxParkMs: number) {
    this.max = max
    this.pollEveryMs = grants === 'poll' ? 3 : 0
    this.freesAt = grants === 'conclude' ? 'conclude' : 'settle'
    this.maxParkMs = maxParkMs
  }

  get length(): number {
    return this.waiting.length
  }

  allowAttempt(request: BudgetRequest): Decision {
    this.lastMs = request.now
    if (this.waiting.length > 0 || !this.take(request.ref.cost)) return { allowed: false, reason: 'line' }
    return { allowed: true, reason: 'free place' }
  }

  park(request: BudgetRequest, wake: (grant: Decision) => void): () => void {
    const entry = { cost: request.ref.cost, wake }
    this.waiting.push(entry)
    return () => {
      const index = this.waiting.indexOf(entry)
      if (index >= 0) this.waiting.splice(index, 1)
      else throw new Error('left a line twice, or after a grant')
    }
  }

  conclude(request: BudgetRequest, outcome: AttemptOutcome): void {
    if (this.freesAt === 'conclude') this.free(request, outcome)
  }

  settle(request: BudgetRequest, outcome: AttemptOutcome): void {
    if (this.freesAt === 'settle') this.free(request, outcome)
  }

  private free(request: BudgetRequest, outcome: AttemptOutcome): void {
    this.inUse -= request.ref.cost
    this.lastMs = outcome.now
    if (this.pollEveryMs === 0) this.grant()
  }

  wakeAtMs(): number {
    return this.pollEveryMs === 0 || this.waiting.length === 0 ? Infinity : this.lastMs + this.pollEveryMs
  }

  poll(now: number): void {
    this.lastMs = now
    this.grant()
  }

  private grant(): void {
    for (let first = this.waiting[0]; first !== undefined && this.take(first.cost); first = this.waiting[0]) {
      this.waiting.shift()
      first.wake({ allowed: true, reason: 'out of the line' })
    }
  }

  private take(cost: number): boolean {
    if (this.inUse > 0 && this.inUse + cost > this.max) return false
    this.inUse += cost
    return true
  }
}

/** How a wrapped budget hears of an attempt that it allowed: whether of its conclusion, and how of its end. */
export interface Hears {
  readonly conclude: boolean
  readonly end: 'release' | 'settle' | 'nothing'
}

export class Audit {
  readonly name: string
  readonly hears: Hears
  allowed = 0
  concluded = 0
  returned = 0
  /** Faults in words. */
  readonly faults: string[] = []

  constructor(name: string, hears: Hears) {
    this.name = name
    this.hears = hears
  }

  balanced(): Partial<Audit> {
    const { allowed, hears } = this
    return { concluded: hears.conclude ? allowed : 0, returned: hears.end === 'nothing' ? 0 : allowed, faults: [] }
  }
}

/**
 * The budget, every grant of which is to come back once: by a `release` of its own, or by `settle`, which need not be
 * told with the same object that was asked with. Every grant is to be concluded once, not later than it comes back.
 * A budget that hears of the conclusion alone gets everything back then. `mischief` may throw wherever a budget of users
 * might.
 */
export function audited(
  name: string,
  inner: Budget,
  hears: Hears,
  mischief: () => void = () => undefined,
): [Budget, Audit] {
  const audit = new Audit(name, hears)
  const open = new Map<string, number>()
  /** Grants that have not been concluded. Of requests that look alike any may be the one that is told. */
  const unconcluded = new Map<string, number>()
  const idOf = ({ key, launch, kind, ref }: BudgetRequest): string => `${key} ${kind} ${launch} of ${ref.name}`

  const check = (outcome: AttemptOutcome): void => {
    if (!(outcome.latencyMs >= 0)) audit.faults.push(`a latency of ${outcome.latencyMs}`)
    if (outcome.result === undefined) audit.faults.push('told without a result')
    if (outcome.won && outcome.result !== 'success') audit.faults.push(`won with ${outcome.result}`)
  }
  const conclude = (request: BudgetRequest, outcome: AttemptOutcome): void => {
    const id = idOf(request)
    const left = (unconcluded.get(id) ?? 0) - 1
    unconcluded.set(id, left)
    audit.concluded++
    if (left < 0) audit.faults.push(`${id} was concluded more often than it was given`)
    check(outcome)
    inner.conclude?.(request, outcome)
    if (hears.end === 'nothing') inner.settle?.(request, outcome)
    mischief()
  }
  const giveBack = (request: BudgetRequest, outcome: AttemptOutcome, decision?: Decision): void => {
    const id = idOf(request)
    const left = (open.get(id) ?? 0) - 1
    open.set(id, left)
    audit.returned++
    if (left < 0) audit.faults.push(`${id} came back more often than it was given`)
    if (hears.conclude && (unconcluded.get(id) ?? 0) > left)
      audit.faults.push(`${id} came back before it was concluded`)
    check(outcome)
    if (inner.settle === undefined) decision?.release?.(outcome)
    else inner.settle(request, outcome)
    mischief()
  }
  const grant = (request: BudgetRequest, decision: Decision): Decision => {
    if (!decision.allowed) return decision
    const { key, attempt, launch, kind, ref, now, deadlineMs } = request
    const asked = { key, attempt, launch, kind, ref, now, deadlineMs }
    audit.allowed++
    open.set(idOf(asked), (open.get(idOf(asked)) ?? 0) + 1)
    unconcluded.set(idOf(asked), (unconcluded.get(idOf(asked)) ?? 0) + 1)
    const { allowed, reason } = decision
    if (hears.end !== 'release') return { allowed, reason }
    let isOut = true
    const release = (outcome: AttemptOutcome): void => {
      if (!isOut) audit.faults.push(`${idOf(asked)} was released twice`)
      isOut = false
      giveBack(asked, outcome, decision)
    }
    return { allowed, reason, release }
  }

  const wrapped: Budget = {
    allowAttempt: (request) => {
      mischief()
      if (!(request.ref.cost >= 1)) audit.faults.push(`asked for ${request.ref.cost}`)
      return grant(request, inner.allowAttempt(request))
    },
    ...(hears.conclude && { conclude }),
    ...(hears.end === 'settle' && { settle: (request, outcome) => giveBack(request, outcome) }),
    ...('peek' in inner && {
      peek: (request) => {
        mischief()
        return inner.peek?.(request) ?? true
      },
    }),
    ...(inner instanceof Line && lineOf(inner, grant, mischief)),
  }
  return [wrapped, audit]
}

function lineOf(
  line: Line,
  grant: (request: BudgetRequest, decision: Decision) => Decision,
  mischief: () => void,
): Partial<Budget> {
  return {
    maxParkMs: line.maxParkMs,
    park: (request, wake) => {
      mischief()
      return line.park(request, (given) => wake(grant(request, given)))
    },
    wakeAtMs: () => line.wakeAtMs(),
    poll: (now) => {
      line.poll(now)
      mischief()
    },
  }
}
