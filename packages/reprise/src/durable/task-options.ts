/** The options of a task, checked. Imports core and its own layer. */
import { numberCheck } from '../core/budgets/numbers.js'
import { OptionsError } from '../core/errors.js'
import { expectNone, expectOptions, type OptionCheck, optionProblems } from '../core/options.js'
import type { Policy } from '../core/policy.js'
import { isNot } from '../core/problems.js'
import type { QueueRate } from '../ledger/queue-limit.js'
import type { TaskRecord } from '../ledger/records.js'
import type { Allotment } from './allotment.js'
import type { Definition, VerifyFunction } from './definition.js'
import type { TaskGroup } from './group.js'
import type { InterruptRule } from './policy-record.js'
import { queueRate, type RateInput } from './queue-gate.js'

/** Options of a task. `I`: its input, `R`: its result. */
export interface TaskOptions<I, R> {
  /**
   * What becomes of an attempt whose process was lost while it ran: it runs again under its number (`rerun`), counts as
   * failed (`charge`), a person decides (`fail`), or the program looks whether it happened (`verify`).
   * @default 'rerun'
   * @example { onInterrupt: 'fail' }
   */
  readonly onInterrupt?:
    | 'rerun'
    | 'charge'
    | 'fail'
    | {
        /** Looks whether the interrupted attempt happened. */
        readonly verify: VerifyFunction<I, R>
      }
  /**
   * Rows that change in the commit in which a task ends: a tally, tasks that depend on it.
   * @default none
   * @example { group: { keys: () => ({ runs: ['import-7'] }), follow: (view, change, now) => ({}) } }
   */
  readonly group?: TaskGroup
  /**
   * The name of the tally that counts the task: `ledger.tally(name)` reads how many of its tasks are of which class
   * without counting them. A function gets the task as it is recorded, and may answer undefined for a task that is not
   * counted. Up to 200 characters; a task keeps the tally that it was recorded with.
   * @default the task is not counted
   * @example { tally: ({ id }) => `import-${id.split('/')[0]}` }
   */
  readonly tally?: string | ((task: TaskRecord) => string | undefined)
  /**
   * A count in the ledger that every retry is charged to, at the failure. Without one left the task fails at once.
   * @default none
   * @example { allot: { budget: 'imports', total: 20, perTask: 3 } }
   */
  readonly allot?: Allotment
  /**
   * At most this many tasks of this name run at a time, over all processes that share the ledger.
   * @default no limit but the `concurrency` of each process
   * @example { most: 8 }
   */
  readonly most?: number
  /**
   * How many tasks of this name start in a second, over all processes that share the ledger: in `t` seconds at most
   * `burst + t × perSecond`. A task that has to wait for its start loses no attempt.
   * @default no limit
   * @example { rate: { perSecond: 20 } }
   */
  readonly rate?: {
    /** Starts in a second: a number above 0. */
    readonly perSecond: number
    /**
     * Starts that may come at once after a pause: a number of 1 or more.
     * @default 1, or the starts of 50 ms where these are more
     * @example { rate: { perSecond: 20, burst: 5 } }
     */
    readonly burst?: number
  }
  /**
   * What it means that the breaker or the budget of the policy denies an attempt: the task is over (`end`), or all tasks of
   * this name wait until the gate allows them (`hold`), and none fails or loses an attempt because of it.
   * @default 'end'
   * @example { whenDenied: 'hold' }
   */
  readonly whenDenied?: 'end' | 'hold'
}

interface ReadOptions<I, R> extends Pick<Definition, 'most' | 'rate' | 'whenDenied'> {
  readonly tally: Definition['tally'] | undefined
  readonly rule: InterruptRule
  readonly verify: VerifyFunction<I, R> | undefined
  readonly group: TaskGroup | undefined
  readonly allot: Allotment | undefined
}

const WHEN_DENIED: OptionCheck = [(value) => value === 'end' || value === 'hold', "'end' or 'hold'"]

const FUNCTION: OptionCheck = [(value) => typeof value === 'function', 'a function']

const COUNT: OptionCheck = [
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  'a whole number of 0 or more, such as 20',
]
const MOST: OptionCheck = [
  (value) => Number.isSafeInteger(value) && (value as number) >= 1,
  'a whole number of 1 or more, such as 8',
]
const TALLY_NAME = 'a text of 1 to 200 characters without control characters'
const isTally = (value: unknown): boolean => typeof value === 'string' && /^[^\p{Cc}\p{Cs}]{1,200}$/u.test(value)
const TALLY: OptionCheck = [
  (value) => typeof value === 'function' || isTally(value),
  `${TALLY_NAME}, or a function that gives one`,
]
const NAME: OptionCheck = [(value) => typeof value === 'string' && value.trim() !== '', "a name, such as 'imports'"]
const WORD: OptionCheck = [(value) => typeof value === 'string' && value !== '', 'a text']

export function readTaskOptions<I, R>(name: string, options: TaskOptions<I, R>, policy: Policy): ReadOptions<I, R> {
  expectOptions(`the task ${name}`, options, {
    // Checked below, with a message of its own.
    onInterrupt: [() => true, ''],
    group: [(value) => typeof value === 'object' && value !== null, 'an object with the functions `keys` and `follow`'],
    tally: TALLY,
    allot: [() => true, ''],
    most: MOST,
    rate: [() => true, ''],
    whenDenied: WHEN_DENIED,
  })
  const { group, tally, allot, most, whenDenied } = options
  const rate = options.rate && readRate(`the rate of the task ${name}`, options.rate)
  if (group !== undefined) expectGroup(name, group)
  if (allot !== undefined) expectAllotment(name, allot, policy)
  return { ...interruptRule(name, options), group, tally: tallyNamed(name, tally), allot, most, rate, whenDenied }
}

const RATE_CHECKS = {
  perSecond: numberCheck(20, 'a finite number above 0'),
  burst: [(value) => Number.isFinite(value) && (value as number) >= 1, 'a number of 1 or more, such as 5'],
} as const satisfies Readonly<Record<string, OptionCheck>>

/** Throws an `OptionsError` for a wrong rate. */
export function readRate(subject: string, rate: RateInput): QueueRate {
  expectOptions(subject, rate, RATE_CHECKS, { required: ['perSecond'] })
  return queueRate(rate)
}

/** What a function answers is checked for each task. */
function tallyNamed<I, R>(name: string, tally: TaskOptions<I, R>['tally']): Definition['tally'] | undefined {
  if (typeof tally !== 'function') return tally === undefined ? undefined : () => tally
  return (task) => {
    const answer = tally(task)
    if (answer === undefined || isTally(answer)) return answer
    throw new OptionsError(`the task ${name}`, [{ path: 'tally', message: isNot(answer, TALLY_NAME) }])
  }
}

/** It may have fields of its own: it may be an object of a class. */
function expectGroup(name: string, group: TaskGroup): void {
  const problems = (['keys', 'follow'] as const)
    .filter((field) => typeof group[field] !== 'function')
    .map((field) => ({ path: `group.${field}`, message: isNot(group[field], 'a function') }))
  expectNone(`the task ${name}`, problems)
}

/** A gate budget is charged when an attempt starts, an allotment at the failure: one count cannot be both. */
function expectAllotment(name: string, allot: Allotment, { budget }: Policy): void {
  const subject = `the allotment of the task ${name}`
  const checks = { budget: NAME, total: COUNT, perTask: COUNT, reasons: [() => true, ''] as const }
  expectOptions(subject, allot, checks, { required: ['budget'] })
  if (allot.reasons !== undefined) {
    expectOptions(`the reasons of ${subject}`, allot.reasons, { total: WORD, perTask: WORD, missing: WORD })
  }
  if (budget?.name !== allot.budget) return
  const message = `must not be the budget of the policy, ${JSON.stringify(budget.name)}: that one is asked at each start`
  throw new OptionsError(subject, [{ path: 'budget', message }])
}

export function interruptRule<I, R>(
  name: string,
  { onInterrupt = 'rerun' }: Pick<TaskOptions<I, R>, 'onInterrupt'>,
): Pick<ReadOptions<I, R>, 'rule' | 'verify'> {
  if (onInterrupt === 'rerun' || onInterrupt === 'charge' || onInterrupt === 'fail')
    return { rule: onInterrupt, verify: undefined }
  const subject = `the task ${name}`
  if (typeof onInterrupt !== 'object' || onInterrupt === null || Array.isArray(onInterrupt)) {
    const message = isNot(onInterrupt, "'rerun', 'charge', 'fail' or { verify: function }")
    throw new OptionsError(subject, [{ path: 'onInterrupt', message }])
  }
  const problems = optionProblems(onInterrupt, { verify: FUNCTION }, { required: ['verify'] })
  expectNone(
    subject,
    problems.map((problem) => ({ ...problem, path: `onInterrupt.${problem.path}` })),
  )
  return { rule: 'verify', verify: onInterrupt.verify }
}
