/**
 * Several budgets as one: all must allow, and nothing is consumed unless all do. It does not park.
 *
 * How: every member that can be peeked is peeked first; then the one that cannot is asked, and last the others, who
 * have said that they will allow. All of it is one synchronous step. Should one refuse or throw all the same, what was
 * granted before is given back as `aborted`. That cannot undo the charge of a member with neither `release` nor
 * `settle`; so members should be independent, and not, say, two counts with one parent.
 * Invariant: each member that granted hears of the conclusion and of the end exactly once, also when another throws on
 * hearing it.
 * Nested ones are taken apart, so that the rule about peeking holds for them together. Imports core only.
 */
import { expectAnswer } from '../answer.js'
import type { AttemptOutcome, Budget, BudgetDescription, BudgetRequest, Decision } from '../budget.js'
import type { OptionProblem } from '../errors.js'
import { ALLOWED, askBudget, DENIED, isBudget, unusedOutcome } from '../gate.js'
import { expectNone } from '../options.js'
import { isNot } from '../problems.js'
import { unexpected } from './numbers.js'

/** A budget of several budgets. */
export class AllOf implements Budget {
  /** The budgets, nested ones taken apart. */
  readonly members: readonly Budget[]
  /** Absent when no member wants to hear of an outcome. */
  declare readonly settle?: NonNullable<Budget['settle']>
  /** Absent when no member has it. */
  declare readonly conclude?: NonNullable<Budget['conclude']>
  private readonly order: readonly Budget[]

  constructor(budgets: readonly Budget[]) {
    this.members = budgets.flatMap((budget) => (budget instanceof AllOf ? budget.members : [budget]))
    expectNone('allOf', memberProblems(this.members))
    this.order = this.members.toSorted((a, b) => Number(canPeek(a)) - Number(canPeek(b)))
    if (this.members.some((member) => member.settle !== undefined))
      this.settle = (request, outcome) => {
        this.members.reduce((held, member) => join(held, ALLOWED, member, request), ALLOWED).release?.(outcome)
      }
    if (this.members.some((member) => member.conclude !== undefined))
      this.conclude = (request, outcome) => concludeAll(this.members, request, outcome)
  }

  allowAttempt(request: BudgetRequest): Decision {
    const unwilling = refuser(this.members, request)
    if (unwilling !== undefined) return denialOf(unwilling, request)
    let held = ALLOWED
    let granted = 0
    try {
      for (const member of this.order) {
        const decision = askBudget(member, request)
        if (!decision.allowed) return decision
        held = join(held, decision, member, request)
        granted++
      }
      return held
    } finally {
      if (granted < this.order.length) returnUnused(this.order.slice(0, granted), held, request)
    }
  }

  /** A member that cannot be peeked counts as willing. */
  peek(request: BudgetRequest): boolean {
    return refuser(this.members, request) === undefined
  }

  denialReason(request: BudgetRequest): string {
    return refuser(this.members, request)?.denialReason?.(request) ?? DENIED.reason
  }

  /** The latest time that a member names which refuses now; unknown if one of them does not know. */
  nextAllowedAtMs(request: BudgetRequest): number | undefined {
    const refusing = this.members.filter((member) => member.peek?.(request) === false)
    const times = refusing.map((member) => member.nextAllowedAtMs?.(request))
    return times.length === 0 || times.includes(undefined) ? undefined : Math.max(...(times as number[]))
  }

  describe(): BudgetDescription {
    return { type: 'all_of', members: this.members.map((member) => member.describe?.() ?? null) }
  }

  /** The members' snapshots in their order; null for one without. */
  snapshot(): readonly unknown[] {
    return this.members.map((member) => member.snapshot?.() ?? null)
  }

  restore(state: unknown): void {
    if (!Array.isArray(state) || state.length !== this.members.length)
      throw unexpected('allOf snapshot', state, `a list of ${this.members.length}`)
    this.members.forEach((member, index) => member.restore?.(state[index]))
  }
}

function canPeek(budget: Budget): boolean {
  return budget.peek !== undefined
}

/** Paths count the members from 0, those of nested ones in their place. */
function memberProblems(members: readonly Budget[]): OptionProblem[] {
  const example = 'a budget such as concurrencyBudget({ max: 10 })'
  if (members.length === 0) return [{ path: '', message: `needs at least one argument, ${example}` }]
  const silent = members.findIndex((member) => isBudget(member) && !canPeek(member))
  return members.flatMap((member, index): OptionProblem[] => {
    const path = `[${index}]`
    if (!isBudget(member)) return [{ path, message: isNot(member, example) }]
    if (members.indexOf(member) < index) {
      return [{ path, message: 'is listed twice', suggestion: 'to charge it more, raise the cost' }]
    }
    if (canPeek(member) || index === silent) return []
    return [{ path, message: `has no peek method, as [${silent}]: asking one of them could charge it in vain` }]
  })
}

function refuser(members: readonly Budget[], request: BudgetRequest): Budget | undefined {
  for (const member of members)
    if (member.peek !== undefined && !expectAnswer(member.peek(request), 'peek')) return member
  return undefined
}

/** A denial costs nothing, so the member is asked for its reason. One that allows after all has to take it back. */
function denialOf(member: Budget, request: BudgetRequest): Decision {
  const decision = askBudget(member, request)
  if (!decision.allowed) return decision
  returnUnused([member], join(ALLOWED, decision, member, request), request)
  return DENIED
}

/** A grant that gives back what `held` does, and `decision` of `member` too. Most often one of the two says it all. */
function join(held: Decision, decision: Decision, member: Budget, request: BudgetRequest): Decision {
  if (decision.release === undefined && member.settle === undefined) return held
  if (held === ALLOWED && decision.release !== undefined && decision.reason === ALLOWED.reason) return decision
  let isOver = false
  const release = (outcome: AttemptOutcome): void => {
    // A second release would settle members for an attempt of somebody else.
    if (isOver) return
    isOver = true
    try {
      held.release?.(outcome)
    } finally {
      if (decision.release !== undefined) decision.release(outcome)
      else member.settle?.(request, outcome)
    }
  }
  return { ...ALLOWED, release }
}

function concludeAll(members: readonly Budget[], request: BudgetRequest, outcome: AttemptOutcome): void {
  const [member, ...others] = members
  try {
    member?.conclude?.(request, outcome)
  } finally {
    if (others.length > 0) concludeAll(others, request, outcome)
  }
}

function returnUnused(granted: readonly Budget[], held: Decision, request: BudgetRequest): void {
  const outcome = unusedOutcome(request.now)
  try {
    concludeAll(granted, request, outcome)
  } finally {
    held.release?.(outcome)
  }
}

/**
 * Makes a budget that allows what all of these allow. If one denies, none is charged.
 * @example const api = allOf(concurrencyBudget({ max: 10 }), ratioBudget())
 */
export function allOf(...budgets: readonly Budget[]): AllOf {
  return new AllOf(budgets)
}
