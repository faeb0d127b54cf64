/**
 * What the load is made of: kinds of tasks with their policies and gates, and the plan that one of its processes is given.
 * Both the process and who checks it read this. Imports budgets of core.
 */
import type { Budget } from '../../packages/reprise/src/core/budget.js'
import { adaptiveBudget } from '../../packages/reprise/src/core/budgets/adaptive.js'
import { countBudget } from '../../packages/reprise/src/core/budgets/count.js'
import { tokenBucket } from '../../packages/reprise/src/core/budgets/token-bucket.js'
import type { PolicyInput } from '../../packages/reprise/src/core/policy.js'
import { drawsOf } from '../../packages/reprise/src/core/state.js'
import type { TaskOptions } from '../../packages/reprise/src/durable/task-options.js'
import type { GateRule } from './gate-history.js'
import type { KillPoint } from './kill-points.js'

export const ATTEMPTS = 4
const BASE = {
  attempts: ATTEMPTS,
  initialDelay: '20ms',
  maxDelay: '60ms',
  jitter: 'full',
} as const satisfies PolicyInput

export interface Kind extends Pick<TaskOptions<number, object>, 'allot' | 'most' | 'whenDenied'> {
  readonly name: string
  readonly policy: PolicyInput
  readonly onInterrupt?: 'fail' | 'charge'
  /** It has a group and a tally, which must add up to its tasks. */
  readonly isGrouped?: boolean
}

/** The run that counts the tasks of the group, and the tally that does. */
export const [GROUP, TALLY] = ['load-group', 'load']

const ALLOTMENT = { total: 10 }

export const KINDS: readonly Kind[] = [
  { name: 'plain', policy: BASE },
  { name: 'counted', policy: { ...BASE, budget: 'count' } },
  { name: 'metered', policy: { ...BASE, budget: 'bucket' } },
  { name: 'lined', policy: { ...BASE, budget: 'line' } },
  {
    name: 'guarded',
    policy: { ...BASE, breaker: { failureThreshold: 4, recoveryTimeout: '250ms', halfOpenMaxCalls: 1 } },
  },
  { name: 'careful', policy: BASE, onInterrupt: 'fail' },
  {
    name: 'charged',
    policy: BASE,
    onInterrupt: 'charge',
    allot: { budget: 'allotment', ...ALLOTMENT, perTask: 3 },
  },
  {
    name: 'held',
    policy: { ...BASE, breaker: { failureThreshold: 3, recoveryTimeout: '60ms', halfOpenMaxCalls: 1 } },
    whenDenied: 'hold',
    most: 2,
  },
  { name: 'grouped', policy: BASE, onInterrupt: 'charge', isGrouped: true },
  { name: 'timed', policy: { ...BASE, retryBudget: '80ms', timeout: '600ms', attemptTimeout: '9ms' } },
]

const COUNT = { total: 12 }
const BUCKET = { capacity: 6, refillPerSecond: 30 }

export function loadBudgets(): Readonly<Record<string, Budget>> {
  return {
    count: countBudget(COUNT),
    bucket: tokenBucket(BUCKET),
    line: adaptiveBudget({ bulkhead: true, maxPark: '400ms' }),
  }
}

export const GATE_RULES: readonly GateRule[] = [
  { type: 'count', name: 'count', runs: ['counted'], ...COUNT },
  { type: 'bucket', name: 'bucket', runs: ['metered'], ...BUCKET },
  { type: 'allotment', name: 'allotment', runs: ['charged'], ...ALLOTMENT },
]

export interface LoadPlan {
  /** Of the ledger. */
  readonly address: string
  /** The journal: a line of JSON for every start and every acknowledgement. */
  readonly journal: string
  /** Of the scenario: what each task does. */
  readonly seed: number
  /** Of this process: what it does to them. */
  readonly life: number
  readonly tasksOfKind: number
  readonly leaseMs: number
  /** How long an operation takes at most. */
  readonly workMs: number
  /** Leaves tasks alone that would end by themselves. */
  readonly calm: boolean
  readonly point?: KillPoint
  /** The ledger may fail for good: then the process ends with that code, and another goes on. */
  readonly mayFail?: boolean
  /** A process that does not read what budgets and breakers have become: the checkers must tell. */
  readonly forgetsGates?: boolean
}

/** Of a process whose ledger has failed. */
export const LEDGER_FAILED = 74

/** A line of the journal. */
export type Noted =
  | {
      readonly type: 'start'
      readonly run: string
      readonly task: string
      readonly attempt: number
      readonly execution: number
      readonly generation: number
      readonly fence: number
      readonly atMs: number
      readonly pid: number
    }
  | { readonly type: 'created'; readonly run: string; readonly task: string }
  | { readonly type: 'result'; readonly run: string; readonly task: string; readonly value: null | object }
  /** A commit that the process itself saw breaking a promise. */
  | { readonly type: 'fault'; readonly what: string }
  /** How often it passed each point, when it ended by itself. */
  | { readonly type: 'passed'; readonly points: Readonly<Record<string, number>> }

/** By task: how often it fails before it succeeds; a third never does. */
export function failuresOf(seed: number, task: number): number {
  return Math.floor(drawsOf(seed)(task) * 6)
}
