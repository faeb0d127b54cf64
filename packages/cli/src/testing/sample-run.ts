/**
 * Runs as tests of the output want them: everything usual is filled in. Nothing of the program imports it.
 * Imports types only.
 */
import type { RunEvent, StepState } from '@reprise/workflow'
import type { AttemptView, RunDetail, StepView } from '@reprise/workflow/internal'
import type { FailureRecord } from 'reprise/durable'
import { PLAIN } from '../output/style.js'
import type { Display } from '../output/display.js'

/** Noon, so that times are round. */
export const START = Date.UTC(2026, 0, 31, 12)

export const REFUSED: FailureRecord = { name: 'Error', message: 'connect ECONNREFUSED 10.0.0.1:443' }
export const EXIT_75: FailureRecord = { name: 'ExitError', message: 'no route\nsecond line', exitCode: 75 }

/** What a terminal would obey, in every way that it might. */
export const EVIL = '\u001b]0;owned\u0007\u009b31m\u202eevil\r\n\u001b[2J'

export const PIPE: Display = {
  style: PLAIN,
  screen: 1000,
  width: 100,
  bars: false,
  blocks: false,
  quiet: false,
  verbose: false,
}

export function terminal(columns: number): Display {
  return { ...PIPE, screen: columns, width: Math.min(100, columns), bars: true, blocks: true }
}

const NO_TIME = { activeMs: 0, waitedMs: 0, downMs: 0 } as const

type StepEventType = Extract<RunEvent, { readonly attempts: number }>['type']
type EventOf<T> = Extract<RunEvent, { readonly type: T }>

const DEFAULTS = {
  attempt_started: {},
  attempt_failed: { durationMs: 100, failure: REFUSED, timedOut: false },
  waiting: { delayMs: 1000, nextAttemptAtMs: START + 1000, waitedMs: 1000, retryBudgetMs: null, failure: REFUSED },
  parked: { budget: 'api' },
  step_finished: {
    state: 'succeeded',
    durationMs: 1200,
    waitedMs: 0,
    stopReason: null,
    failure: null,
    continued: false,
  },
  step_skipped: { reason: 'when: size(items) > 0' },
  fallback_started: { fallback: { id: 'fetch.fallback', name: 'fallback of fetch' } },
  output: { line: 'said' },
} as const

/** An event of a step at noon, in its first attempt of five. */
export function stepEvent<T extends StepEventType>(
  type: T,
  step: string,
  fields: Partial<EventOf<T>> = {},
): EventOf<T> {
  const base = { timeMs: START, run: 'nightly-7', step, attempt: 1, attempts: 5 }
  return { ...base, type, ...DEFAULTS[type], ...fields } as unknown as EventOf<T>
}

export function runStarted(steps: readonly string[], fields: Partial<EventOf<'run_started'>> = {}): RunEvent {
  const listed: EventOf<'run_started'>['steps'] =
    fields.steps ?? steps.map((id) => ({ id, name: id, state: 'pending' as const }))
  const counts: Partial<Record<StepState, number>> = {}
  for (const { state } of listed) counts[state] = (counts[state] ?? 0) + 1
  return {
    type: 'run_started',
    timeMs: START,
    run: 'nightly-7',
    name: 'import',
    steps: listed,
    counts,
    resumes: 0,
    ...NO_TIME,
    ...fields,
  }
}

export function runFinished(fields: Partial<EventOf<'run_finished'>> = {}): RunEvent {
  const base = { timeMs: START, run: 'nightly-7', state: 'succeeded', stopReason: null } as const
  return { ...base, type: 'run_finished', ...NO_TIME, activeMs: 72_000, ...fields }
}

/** One step in every state that a run may show. */
export const STORY: readonly RunEvent[] = [
  runStarted(['fetch', 'load', 'send', 'notify', 'clean', 'report', 'archive'], { resumes: 1 }),
  stepEvent('step_finished', 'fetch', { durationMs: 2400 }),
  stepEvent('step_finished', 'load', { state: 'recovered', attempt: 3, waitedMs: 3000 }),
  stepEvent('step_finished', 'send', {
    state: 'failed',
    attempt: 5,
    stopReason: 'attempts_exhausted',
    failure: EXIT_75,
    waitedMs: 7000,
    continued: true,
  }),
  stepEvent('step_skipped', 'notify'),
  stepEvent('attempt_started', 'clean', { timeMs: START + 1000 }),
  stepEvent('waiting', 'report', { attempt: 2, nextAttemptAtMs: START + 5600, waitedMs: 6000, retryBudgetMs: 12_000 }),
  stepEvent('parked', 'archive', { attempt: 2, timeMs: START + 2000 }),
]

/** Very many steps: 300 in hand, 100 ended. */
export const CROWD: readonly RunEvent[] = [
  runStarted(Array.from({ length: 1000 }, (_, index) => `s${index}`)),
  ...Array.from({ length: 300 }, (_, index) => stepEvent('attempt_started', `s${index}`)),
  ...Array.from({ length: 5 }, (_, index) => stepEvent('waiting', `s${index}`, { attempt: 2 })),
  ...Array.from({ length: 100 }, (_, index) => stepEvent('step_finished', `s${900 + index}`)),
]

export function attemptView(attempt: number, fields: Partial<AttemptView> = {}): AttemptView {
  return {
    generation: 1,
    attempt,
    execution: 1,
    startedAtMs: START,
    endedAtMs: START + 1000,
    outcome: 'success',
    delayBeforeMs: 0,
    failure: null,
    log: `.reprise/runs/nightly-7/fetch/1-${attempt}-1.log`,
    ...fields,
  }
}

export function stepView(id: string, fields: Partial<StepView> = {}): StepView {
  return {
    id,
    name: id,
    kind: 'shell',
    state: 'succeeded',
    generation: 1,
    attempts: 1,
    attemptsAllowed: 5,
    nextAttemptAtMs: null,
    activeMs: 1000,
    waitedMs: 0,
    retryBudgetMs: null,
    stopReason: null,
    failure: null,
    startedAtMs: START,
    endedAtMs: START + 1000,
    correlationId: null,
    log: `.reprise/runs/nightly-7/${id}/1.1.1.log`,
    history: [attemptView(1)],
    ...fields,
  }
}

export function runDetail(steps: readonly StepView[], fields: Partial<RunDetail> = {}): RunDetail {
  const counts: Partial<Record<StepView['state'], number>> = {}
  for (const { state } of steps) counts[state] = (counts[state] ?? 0) + 1
  return {
    id: 'nightly-7',
    kind: 'workflow',
    name: 'import',
    file: 'import.yaml',
    state: 'succeeded',
    startedAtMs: START,
    endedAtMs: START + 72_000,
    ...NO_TIME,
    activeMs: 72_000,
    resumes: 0,
    stopReason: null,
    failedStep: null,
    counts,
    items: null,
    owner: null,
    agents: [],
    params: {},
    outputs: null,
    outputsError: null,
    steps,
    resumedAtMs: [],
    sessions: [{ startedAtMs: START, lastSeenAtMs: START + 72_000 }],
    ...fields,
  }
}
