/**
 * Queues by hand, while tasks run: how many tasks run at a time, how many start in a second, and a pause. For queues whose
 * tasks were registered with `most` or `rate`: claims look at no gate of the others. Imports core, the ledger's port and
 * its own layer.
 *
 * Invariants: a change is one transaction on the gate of one queue, with an event that says who asked and why. All processes
 * have it with their next claim, at the latest with their next poll. Attempts that run are left alone. A pause keeps the
 * limits: `continueQueue` finds them as they were.
 */
import { expectOptions, type OptionCheck } from '../core/options.js'
import type { Ledger } from '../ledger/ledger.js'
import { queueKey, type QueueRate, type QueueState } from '../ledger/queue-limit.js'
import type { GateRecord, Json } from '../ledger/records.js'
import { type Actor, ACTOR, actorOf } from './actor.js'
import { changeGate, type GateChange } from './gate-control.js'
import type { RateInput } from './queue-gate.js'
import { readRate } from './task-options.js'

/** A queue that has a gate, as the ledger has it. */
export interface StoredQueue {
  readonly queue: string
  /** At most this many tasks run at a time; null for no limit. */
  readonly most: number | null
  /** Null for no limit. */
  readonly rate: QueueRate | null
  readonly isPaused: boolean
}

/** The queues that can be changed by hand, by name. */
export async function listQueues(ledger: Ledger): Promise<readonly StoredQueue[]> {
  const gates = (await ledger.gates()).filter(({ kind }) => kind === 'queue')
  return gates.map(storedQueue).toSorted((a, b) => (a.queue < b.queue ? -1 : 1))
}

function storedQueue({ key, state }: GateRecord): StoredQueue {
  const { most = null, rate = null, paused = false } = (state ?? {}) as QueueState
  return { queue: key.slice(queueKey('').length), most, rate, isPaused: paused }
}

/** At most this many tasks of the queue run at a time, from the next claim on; null for no limit. */
export async function setQueueMost(
  ledger: Ledger,
  queue: string,
  options: Actor & { readonly most: number | null },
): Promise<GateChange> {
  const actor = actorIn('setQueueMost', options, { most: MOST_OR_NONE }, 'most')
  return changeQueue(ledger, queue, 'limit', actor, ({ most: _most, ...rest }) => {
    return options.most === null ? rest : { ...rest, most: options.most }
  })
}

/** At most `burst + t × perSecond` tasks of the queue start in `t` seconds, from the next claim on; null for no limit. */
export async function setQueueRate(
  ledger: Ledger,
  queue: string,
  options: Actor & { readonly rate: RateInput | null },
): Promise<GateChange> {
  const actor = actorIn(
    'setQueueRate',
    options,
    { rate: [() => true, 'a rate such as { perSecond: 20 }, or null'] },
    'rate',
  )
  const rate = options.rate === null ? undefined : readRate('setQueueRate', options.rate)
  return changeQueue(ledger, queue, 'pace', actor, ({ rate: _rate, bucket, ...rest }) => {
    return rate === undefined ? rest : { ...rest, rate, ...(bucket && { bucket }) }
  })
}

/** No task of the queue starts any more until `continueQueue`. */
export async function pauseQueue(ledger: Ledger, queue: string, options: Actor): Promise<GateChange> {
  const actor = actorIn('pauseQueue', options)
  return changeQueue(ledger, queue, 'pause', actor, (state) => ({ ...state, paused: true }))
}

/** Ends a pause. A queue that is not paused stays as it is. */
export async function continueQueue(ledger: Ledger, queue: string, options: Actor): Promise<GateChange> {
  const actor = actorIn('continueQueue', options)
  return changeQueue(ledger, queue, 'continue', actor, ({ paused: _paused, ...rest }) => rest)
}

function changeQueue(
  ledger: Ledger,
  queue: string,
  action: 'limit' | 'pace' | 'pause' | 'continue',
  actor: Actor,
  change: (state: QueueState) => QueueState,
): Promise<GateChange> {
  return changeGate(ledger, queueKey(queue), action, actor, ({ state }) => ({
    after: change((state ?? {}) as QueueState) as unknown as Json,
  }))
}

const MOST_OR_NONE: OptionCheck = [
  (value) => value === null || (Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) < 2 ** 31),
  'a whole number of 1 or more, or null for no limit; pauseQueue stops the queue',
]

function actorIn(
  subject: string,
  options: Actor,
  checks: Readonly<Record<string, OptionCheck>> = {},
  ...required: string[]
): Actor {
  expectOptions(subject, options, { ...ACTOR, ...checks }, { required: ['reason', ...required] })
  return actorOf(options)
}
