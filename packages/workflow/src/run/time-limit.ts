/**
 * The limit of time of a run: when its steps are told that it is over. Imports the library, the plan and its own layer.
 */
import type { Ledger } from 'reprise/durable'
import type { DurableRun } from 'reprise/internal'
import type { Plan } from '../plan/plan.js'
import type { Conductor } from './conductor.js'
import { runDeadline, type RunNotes } from './run-record.js'
import { monotonicMs } from './times-before.js'

const LONGEST_TIMER_MS = 2 ** 31 - 1
const LOOK_EVERY_MS = 1000

interface TimedRun {
  readonly ledger: Ledger
  readonly plan: Plan
  readonly run: DurableRun
  readonly notes: RunNotes
  readonly conductor: Conductor
}

/** Ends the steps of the run when its `timeout` is over. Answers with what takes the limit back. */
export async function limitTime({ ledger, plan, run, notes, conductor }: TimedRun): Promise<() => void> {
  const deadlineAtMs = runDeadline(plan, run.record, notes)
  if (deadlineAtMs === null || notes.ending !== undefined) return () => undefined
  const endMs = monotonicMs() + deadlineAtMs - (await ledger.now())
  if (monotonicMs() >= endMs) conductor.beginExpired()
  // Looked at again and again: a step may begin in the moment in which the others are ended.
  const look = (): void => {
    // A ledger that fails is told to whoever writes next.
    if (monotonicMs() >= endMs) conductor.expire().catch(() => undefined)
  }
  const first = setTimeout(look, Math.min(Math.max(0, endMs - monotonicMs()), LONGEST_TIMER_MS))
  const timer = setInterval(look, LOOK_EVERY_MS)
  for (const one of [first, timer]) one.unref()
  return () => {
    clearTimeout(first)
    clearInterval(timer)
  }
}
