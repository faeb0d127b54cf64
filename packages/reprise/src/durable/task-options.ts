/** The options of a task, checked. Imports core and its own layer. */
import { OptionsError } from '../core/errors.js'
import { expectOptions } from '../core/options.js'
import { isNot } from '../core/problems.js'
import type { VerifyFunction } from './definition.js'
import type { TaskGroup } from './group.js'
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
   * Rows that change in the commit in which a task ends: a tally, tasks that depend on it.
   * @default none
   * @example { group: { keys: () => ({ runs: ['import-7'] }), follow: (view, change, now) => ({}) } }
   */
  readonly group?: TaskGroup
}

interface ReadOptions<I, R> {
  readonly rule: InterruptRule
  readonly verify: VerifyFunction<I, R> | undefined
  readonly group: TaskGroup | undefined
}

const isGroup = (value: unknown): boolean => {
  const { keys, follow } = (value ?? {}) as Partial<TaskGroup>
  return typeof keys === 'function' && typeof follow === 'function'
}

export function readTaskOptions<I, R>(name: string, options: TaskOptions<I, R>): ReadOptions<I, R> {
  expectOptions(`the task ${name}`, options, {
    // Checked below, with a message of its own.
    onInterrupt: [() => true, ''],
    group: [isGroup, 'an object with the functions `keys` and `follow`'],
  })
  return { ...interruptRule(name, options), group: options.group }
}

export function interruptRule<I, R>(
  name: string,
  { onInterrupt = 'rerun' }: Pick<TaskOptions<I, R>, 'onInterrupt'>,
): Pick<ReadOptions<I, R>, 'rule' | 'verify'> {
  if (onInterrupt === 'rerun' || onInterrupt === 'fail') return { rule: onInterrupt, verify: undefined }
  const verify: unknown = (onInterrupt as { verify?: unknown } | null)?.verify
  if (typeof verify === 'function') return { rule: 'verify', verify: verify as VerifyFunction<I, R> }
  const message = isNot(onInterrupt, "'rerun', 'fail' or { verify: function }")
  throw new OptionsError(`the task ${name}`, [{ path: 'onInterrupt', message }])
}
