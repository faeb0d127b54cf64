/**
 * Durable tasks of programs by hand: cancel one, or end its wait. Needs no definition, so any process can ask for it.
 * Imports the ledger's port and its own layer.
 *
 * Invariants: each change is one transaction with an event that says who asked and why. What only a program can undo is
 * left alone: a task with a group, and an attempt in flight that a budget of the program has granted.
 */
import type { Changes, Ledger } from '../ledger/ledger.js'
import { type Json, type TaskKey, type TaskRecord, TERMINAL } from '../ledger/records.js'
import { type Actor, ACTOR, actorOf } from './actor.js'
import { expectOptions } from '../core/options.js'
import { withoutProbe } from './shared-breaker.js'
import { cancel, retryNow, type Settled } from './transitions.js'

/**
 * `done`: it is changed. `not_found`: there is no such task. `unfit`: it is in another state, which the answer names. The
 * others want its program: `grouped`, since it has a group; `granted`, since an attempt holds a grant of the budget.
 */
export type TaskControl =
  | { readonly answer: 'done' | 'unfit'; readonly status: TaskRecord['status'] }
  | { readonly answer: 'not_found' | 'grouped' }
  | { readonly answer: 'granted'; readonly budget: string }

/** Ends the wait of a task: a process that serves its queue begins the next attempt. */
export async function startTaskEarly(ledger: Ledger, key: TaskKey, actor: Actor): Promise<TaskControl> {
  expectOptions('startTaskEarly', actor, ACTOR, { required: ['reason'] })
  return ledger.transact<TaskControl>({ tasks: [key] }, (view) => {
    const task = view.task(key)
    if (task === undefined) return { result: { answer: 'not_found' } }
    if (task.status !== 'waiting') return { result: { answer: 'unfit', status: task.status } }
    return { ...asked(retryNow(task, view.now), actor), result: { answer: 'done', status: 'waiting' } }
  })
}

/** Cancels a task that has not ended; a process that runs it aborts the attempt. */
export async function cancelTask(ledger: Ledger, key: TaskKey, actor: Actor): Promise<TaskControl> {
  expectOptions('cancelTask', actor, ACTOR, { required: ['reason'] })
  const found = await ledger.get(key)
  if (found === undefined) return { answer: 'not_found' }
  const budget = await budgetOf(ledger, found)
  const breakers =
    found.progress.current?.probe === undefined ? [] : [`breaker:${found.progress.current.probe.breaker}`]
  for (;;) {
    const answer = await ledger.transact<TaskControl | 'again'>({ tasks: [key], gates: breakers }, (view) => {
      const task = view.task(key)
      if (task === undefined) return { result: { answer: 'not_found' } }
      if (TERMINAL.has(task.status)) return { result: { answer: 'unfit', status: task.status } }
      if (task.progress.grouped) return { result: { answer: 'grouped' } }
      if (task.progress.current !== null && budget !== undefined) return { result: { answer: 'granted', budget } }
      const probe = task.progress.current?.probe
      if (probe !== undefined && !breakers.includes(`breaker:${probe.breaker}`)) {
        breakers.push(`breaker:${probe.breaker}`)
        return { result: 'again' }
      }
      // The slot that the attempt holds of a breaker goes back with it.
      const gate = probe === undefined ? undefined : view.gate(`breaker:${probe.breaker}`)
      const freed = gate && probe && { gates: [{ ...gate, state: withoutProbe(gate.state, probe.epoch) }] }
      return { ...asked(cancel(task, view.now), actor), ...freed, result: { answer: 'done', status: 'cancelled' } }
    })
    if (answer !== 'again') return answer
  }
}

async function budgetOf(ledger: Ledger, { policyHash }: TaskRecord): Promise<string | undefined> {
  const policy = (await ledger.policy(policyHash))?.policy as
    | { readonly budget?: { readonly name?: string } }
    | undefined
  return policy?.budget?.name
}

/** With who asked and why, in the events of the change. */
function asked({ task: _task, ...changes }: Settled, actor: Actor): Changes {
  const events = (changes.events ?? []).map((event) => ({
    ...event,
    detail: { ...(event.detail as Readonly<Record<string, Json>>), ...actorOf(actor) },
  }))
  return { ...changes, events }
}
