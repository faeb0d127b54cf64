/** The options of a task, beside its policy, and their check. Imports core and its own layer. */
import { OptionsError } from '../core/errors.js'
import { expectOptions, type OptionCheck } from '../core/options.js'
import { isNot } from '../core/problems.js'
import type { Definition, VerifyFunction } from './definition.js'
import type { InterruptRule } from './policy-record.js'

/** Options of a task. `I`: its input, `R`: its result. */
export interface TaskOptions<I, R> {
  /**
   * What becomes of an attempt whose process was lost while it ran: it runs again (`rerun`), a person decides (`fail`),
   * or the program looks whether it happened (`verify`).
   * @default 'rerun'
   * @example { onInterrupt: 'fail' }
   */
  readonly onInterrupt?:
    | 'rerun'
    | 'fail'
    | {
        /** Looks whether the interrupted attempt happened. */
        readonly verify: VerifyFunction<I, R>
      }
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

interface InterruptOption<I, R> {
  readonly rule: InterruptRule
  readonly verify: VerifyFunction<I, R> | undefined
}

const WHEN_DENIED: OptionCheck = [(value) => value === 'end' || value === 'hold', "'end' or 'hold'"]

const MOST: OptionCheck = [
  (value) => Number.isSafeInteger(value) && (value as number) >= 1,
  'a whole number of 1 or more, such as 8',
]

export function taskOptions<I, R>(
  name: string,
  options: TaskOptions<I, R>,
): InterruptOption<I, R> & Pick<Definition, 'most' | 'whenDenied'> {
  const checks = { onInterrupt: [() => true, ''], most: MOST, whenDenied: WHEN_DENIED } as const
  expectOptions(`the task ${name}`, options, checks)
  const { most, whenDenied } = options
  return { ...interruptRule(name, options), most, whenDenied }
}

export function interruptRule<I, R>(
  name: string,
  { onInterrupt = 'rerun' }: Pick<TaskOptions<I, R>, 'onInterrupt'>,
): InterruptOption<I, R> {
  if (onInterrupt === 'rerun' || onInterrupt === 'fail') return { rule: onInterrupt, verify: undefined }
  const verify: unknown = (onInterrupt as { verify?: unknown } | null)?.verify
  if (typeof verify === 'function') return { rule: 'verify', verify: verify as VerifyFunction<I, R> }
  const message = isNot(onInterrupt, "'rerun', 'fail' or { verify: function }")
  throw new OptionsError(`the task ${name}`, [{ path: 'onInterrupt', message }])
}
