/** Budgets of the executor's random test: one that parks, and a wrapper that counts what was given and given back. */
import type { AttemptOutcome, Budget, BudgetRequest, Decision } from '../../packages/reprise/src/index.js'

/** So many attempts at a time; the others wait in line, and are woken when a place is free or when polled. */
export class Line implements Budget {
  readonly maxParkMs: number
  inUse = 0
  private readonly max: number
  private readonly pollEveryMs: number
  private readonly waiting: Array<{ readonly cost: number; readonly wake: (grant: Decision) => void }> = []
  private lastMs = 0

  constructor(max: number, grants: 'settle' | 'poll', maxParkMs: number) {
    this.max = max
    this.pollEveryMs = grants === 'poll' ? 3 : 0
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

  settle(request: BudgetRequest, outcome: AttemptOutcome): void {
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

export class Audit {
  readonly name: string
  allowed = 0
  returned = 0
  /** Faults in words. */
  readonly faults: string[] = []

  constructor(name: string) {
    this.name = name
  }

  balanced(): Partial<Audit> {
    return { returned: this.allowed, faults: [] }
  }
}

/**
 * The budget, every grant of which is to come back once: by a `release` of its own, or by `settle`, which need not be
 * told with the same object that was asked with. `mischief` may throw wherever a budget of users might.
 */
export function audited(
  name: string,
  inner: Budget,
  returns: 'release' | 'settle',
  mischief: () => void = () => undefined,
): [Budget, Audit] {
  const audit = new Audit(name)
  const open = new Map<string, number>()
  const idOf = ({ key, attempt, kind, ref }: BudgetRequest): string => `${key} ${kind} ${attempt} of ${ref.name}`

  const giveBack = (request: BudgetRequest, outcome: AttemptOutcome, decision?: Decision): void => {
    const id = idOf(request)
    const left = (open.get(id) ?? 0) - 1
    open.set(id, left)
    audit.returned++
    if (left < 0) audit.faults.push(`${id} came back more often than it was given`)
    if (!(outcome.latencyMs >= 0)) audit.faults.push(`a latency of ${outcome.latencyMs}`)
    if (outcome.result === undefined) audit.faults.push('given back without a result')
    if (outcome.won && outcome.result !== 'success') audit.faults.push(`won with ${outcome.result}`)
    if (inner.settle === undefined) decision?.release?.(outcome)
    else inner.settle(request, outcome)
    mischief()
  }
  const grant = (request: BudgetRequest, decision: Decision): Decision => {
    if (!decision.allowed) return decision
    const { key, attempt, kind, ref, now, deadlineMs } = request
    const asked = { key, attempt, kind, ref, now, deadlineMs }
    audit.allowed++
    open.set(idOf(asked), (open.get(idOf(asked)) ?? 0) + 1)
    const { allowed, reason } = decision
    if (returns === 'settle') return { allowed, reason }
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
    ...(returns === 'settle' && { settle: (request, outcome) => giveBack(request, outcome) }),
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
