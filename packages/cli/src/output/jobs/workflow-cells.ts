/** How a workflow at a datacenter looks: a sign, a word and a colour, so that none is said by colour alone. */
import type { JobStatus } from '@reprise/jobs'
import { countdown } from '../relative-time.js'
import type { Display } from '../display.js'

export type WorkflowStatus = JobStatus['datacenters'][number]['workflows'][number]
type State = WorkflowStatus['state']

const SIGNS: Readonly<Record<State, readonly [sign: string, ascii: string]>> = {
  failed: ['✗', 'x'],
  retrying: ['↻', '~'],
  parked: ['‖', '='],
  running: ['●', '>'],
  waiting: ['·', '.'],
  blocked: ['·', '.'],
  skipped: ['-', '-'],
  cancelled: ['-', '-'],
  succeeded: ['✓', '+'],
}

/** What needs a look first. */
const ORDER = Object.keys(SIGNS) as readonly State[]

export function urgencyOf(states: readonly State[]): number {
  return states.reduce((least, state) => Math.min(least, ORDER.indexOf(state)), ORDER.length)
}

/** `✓ ok`, `↻ in 3s, 2nd`, `✗ failed`; `isShort`: the sign and the attempt alone. */
export function workflowCell(
  { state, attempts, nextAttemptAtMs }: WorkflowStatus,
  nowMs: number,
  isShort: boolean,
  display: Display,
): string {
  const [sign, ascii] = SIGNS[state]
  const mark = display.blocks ? sign : ascii
  const tries = attempts > 1 ? `${attempts}` : ''
  if (isShort) return `${mark}${tries}`
  return `${mark} ${wordOf(state, tries, nextAttemptAtMs, nowMs)}`
}

function wordOf(state: State, tries: string, dueAtMs: number | null, nowMs: number): string {
  const after = tries === '' ? '' : `, ${tries} tries`
  switch (state) {
    case 'succeeded':
      return `ok${after}`
    case 'retrying':
      return dueAtMs === null || dueAtMs <= nowMs ? 'retry due' : `retry in ${countdown(dueAtMs, nowMs)}`
    case 'running':
      return tries === '' ? 'running' : `attempt ${tries}`
    case 'waiting':
      return 'waits'
    case 'blocked':
    case 'failed':
    case 'parked':
    case 'skipped':
    case 'cancelled':
      return `${state}${after}`
  }
}

export function workflowPaint(state: State, { style }: Display): (text: string) => string {
  if (state === 'failed') return style.red
  if (state === 'retrying' || state === 'parked') return style.yellow
  if (state === 'succeeded') return style.green
  return state === 'running' ? style.cyan : style.dim
}
