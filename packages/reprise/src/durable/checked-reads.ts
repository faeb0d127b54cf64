/**
 * A ledger whose records are checked before anything follows from them: for people's commands, which show and change single
 * records by hand. A record that cannot be is refused by name, and nothing is changed. The driver of durable tasks has checks
 * of its own, since one bad record must not stop the others. Imports the ledger's port and its own layer.
 */
import type { LedgerAnalytics, TaskHistory } from '../ledger/analytics.js'
import type { RunTask } from '../ledger/figures.js'
import type { Ledger, View } from '../ledger/ledger.js'
import {
  type AttemptRow,
  type DeadLetter,
  keyOf,
  type PolicyRecord,
  type TaskRecord,
  wordsOf,
} from '../ledger/records.js'
import { TaskRefusedError } from './errors.js'
import { faultsOfFailure, faultsOfPolicy, faultsOfShape } from './task-shape.js'

type Verb = (...args: unknown[]) => unknown
type Check = (answer: unknown) => void

/** By verb: what its answer is made of. */
const CHECKS: Readonly<Partial<Record<keyof Ledger, Check>>> = {
  get: (task) => task !== undefined && expectSoundTask(task as TaskRecord),
  list: expectSoundTasks,
  retrying: expectSoundTasks,
  waiting: expectSoundTasks,
  attempts: expectSoundAttempts,
  attemptsOfRun: expectSoundAttempts,
  deadLetters: expectSoundLetters,
  policy: expectSoundPolicy,
}

const CHECKS_OF_ANALYTICS: Readonly<Partial<Record<keyof LedgerAnalytics, Check>>> = {
  history: (history) => history !== undefined && expectSoundAttempts((history as TaskHistory).attempts),
  runHistory: (tasks) => {
    for (const { task, attempts } of tasks as readonly RunTask[]) {
      expectSoundTask(task)
      expectSoundAttempts(attempts)
    }
  },
}

export function checkedReads(ledger: Ledger): Ledger {
  const analytics = checked(ledger.analytics, CHECKS_OF_ANALYTICS)
  return checked(ledger, CHECKS, (name, value) => {
    if (name === 'analytics') return analytics
    if (name !== 'transact') return undefined
    return (keys: unknown, decide: (view: View) => unknown) =>
      (value as Verb).call(ledger, keys, (view: View) => decide(checkedView(view)))
  })
}

/** `replaced`: what stands for a member instead, if anything. */
function checked<T extends object>(
  port: T,
  checks: Readonly<Partial<Record<keyof T, Check>>>,
  replaced: (name: string | symbol, value: unknown) => unknown = () => undefined,
): T {
  // A proxy, so that a verb that the port gains later is passed on.
  return new Proxy(port, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      const instead = replaced(name, value)
      if (instead !== undefined) return instead
      if (typeof value !== 'function') return value
      const call: Verb = (...args) => (value as Verb).apply(target, args)
      const check = checks[name as keyof T]
      if (check === undefined) return call
      return async (...args: unknown[]) => {
        const answer = await call(...args)
        check(answer)
        return answer
      }
    },
  })
}

function checkedView(view: View): View {
  return {
    now: view.now,
    task: (key) => {
      const task = view.task(key)
      if (task !== undefined) expectSoundTask(task)
      return task
    },
    run: (id) => view.run(id),
    gate: (key) => view.gate(key),
  }
}

/** Throws a `TaskRefusedError` with every fault. */
export function expectSoundTask(task: TaskRecord): void {
  const faults = faultsOfShape(task.progress)
  if (faults.length > 0) throw TaskRefusedError.ofState(task, faults)
}

function expectSoundTasks(tasks: unknown): void {
  for (const task of tasks as readonly TaskRecord[]) expectSoundTask(task)
}

function expectSoundAttempts(rows: unknown): void {
  // Most attempts have not failed.
  for (const row of rows as readonly AttemptRow[])
    if (row.failure !== null)
      expectNone(faultsOfFailure(row.failure), () => `attempt ${row.attempt} of ${wordsOf(keyOf(row))}`)
}

function expectSoundLetters(letters: unknown): void {
  for (const letter of letters as readonly DeadLetter[])
    expectNone(faultsOfFailure(letter.failure), () => `the dead letter of ${wordsOf(keyOf(letter))}`)
}

function expectSoundPolicy(record: unknown): void {
  if (record === undefined) return
  const { hash, policy } = record as PolicyRecord
  expectNone(faultsOfPolicy(policy), () => `policy ${hash}`)
}

function expectNone(faults: readonly string[], place: () => string): void {
  if (faults.length > 0)
    throw new TaskRefusedError('state_refused', `The record of ${place()} is invalid: ${faults.join('; ')}`)
}
