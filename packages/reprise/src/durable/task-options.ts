/** The options of a task, checked. Imports core and its own layer. */
import { OptionsError } from '../core/errors.js'
import { expectOptions, type OptionCheck } from '../core/options.js'
import type { Policy } from '../core/policy.js'
import { isNot } from '../core/problems.js'
import type { Allotment } from './allotment.js'
import type { Definition, VerifyFunction } from './definition.js'
import type { TaskGroup } from './group.js'
import type { InterruptRule } from './policy-record.js'

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
   * What it means that the breaker or the budget of the policy denies an attempt: the task is over (`end`), or all tasks of
   * this name wait until the gate allows them (`hold`), and none fails or loses an attempt because of it.
   * @default 'end'
   * @example { whenDenied: 'hold' }
   */
  readonly whenDenied?: 'end' | 'hold'
}

interface ReadOptions<I, R> extends Pick<Definition, 'most' | 'whenDenied'> {
  readonly rule: InterruptRule
  readonly verify: VerifyFunction<I, R> | undefined
  readonly group: TaskGroup | undefined
  readonly allot: Allotment | undefined
}

const WHEN_DENIED: OptionCheck = [(value) => value === 'end' || value === 'hold', "'end' or 'hold'"]

const isGroup = (value: unknown): boolean => {
  const { keys, follow } = (value ?? {}) as Partial<TaskGroup>
  return typeof keys === 'function' && typeof follow === 'function'
}

const COUNT: OptionCheck = [
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  'a whole number of 0 or more, such as 20',
]
const MOST: OptionCheck = [
  (value) => Number.isSafeInteger(value) && (value as number) >= 1,
  'a whole number of 1 or more, such as 8',
]
const NAME: OptionCheck = [(value) => typeof value === 'string' && value.trim() !== '', "a name, such as 'imports'"]
const WORD: OptionCheck = [(value) => typeof value === 'string' && value !== '', 'a text']

export function readTaskOptions<I, R>(name: string, options: TaskOptions<I, R>, policy: Policy): ReadOptions<I, R> {
  expectOptions(`the task ${name}`, options, {
    // Checked below, with a message of its own.
    onInterrupt: [() => true, ''],
    group: [isGroup, 'an object with the functions `keys` and `follow`'],
    allot: [() => true, ''],
    most: MOST,
    whenDenied: WHEN_DENIED,
  })
  const { group, allot, most, whenDenied } = options
  if (allot !== undefined) expectAllotment(name, allot, policy)
  return { ...interruptRule(name, options), group, allot, most, whenDenied }
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
  const verify: unknown = (onInterrupt as { verify?: unknown } | null)?.verify
  if (typeof verify === 'function') return { rule: 'verify', verify: verify as VerifyFunction<I, R> }
  const message = isNot(onInterrupt, "'rerun', 'charge', 'fail' or { verify: function }")
  throw new OptionsError(`the task ${name}`, [{ path: 'onInterrupt', message }])
}
