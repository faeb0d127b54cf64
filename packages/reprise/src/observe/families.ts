/**
 * The metrics by name: what each counts, its labels, and how many series its `other` may need.
 * Imports core and the layer's own files.
 */
import { TASK_EVENTS } from '../core/event.js'
import { ATTEMPT_KINDS, STOP_REASONS } from '../core/words.js'
import { Durations, SERIES_PER_HISTOGRAM } from './durations.js'
import { KNOWN_REASONS, OUTCOMES } from './label.js'
import type { MetricFamily } from './metric-family.js'
import { Cell, Family, type FamilyShape, Room } from './series.js'

interface Definition extends FamilyShape {
  readonly name: string
  readonly help: string
  /** Combinations of words that `other` may meet; `other` itself is one more word of each set. */
  readonly combinations: number
}

const CALLS: Definition = {
  name: 'reprise_calls_total',
  help: 'Calls that ended, by result and by the reason they stopped (empty after a success).',
  open: 'key',
  words: ['result', 'stop_reason'],
  seriesEach: 1,
  combinations: 1 + STOP_REASONS.length + 1,
}
const ATTEMPTS: Definition = {
  name: 'reprise_attempts_total',
  help: 'Attempts that ran, by kind and outcome; the first attempt of a call is of the kind retry.',
  open: 'key',
  words: ['kind', 'outcome'],
  seriesEach: 1,
  combinations: (ATTEMPT_KINDS.length + 1) * (OUTCOMES.length + 1),
}
const WAITS: Definition = {
  name: 'reprise_wait_seconds',
  help: 'Waits chosen before retries; the sum is the time budget used.',
  open: 'key',
  words: [],
  seriesEach: SERIES_PER_HISTOGRAM,
  combinations: 1,
}
const ATTEMPT_TIMES: Definition = {
  name: 'reprise_attempt_seconds',
  help: 'How long attempts ran.',
  open: 'key',
  words: [],
  seriesEach: SERIES_PER_HISTOGRAM,
  combinations: 1,
}
const DECISIONS: Definition = {
  name: 'reprise_budget_decisions_total',
  help: 'Answers of budgets; reasons of custom budgets count as other.',
  open: 'budget',
  words: ['allowed', 'reason'],
  seriesEach: 1,
  combinations: 2 * (KNOWN_REASONS.length + 1),
}
const BREAKERS: Definition = {
  name: 'reprise_breaker_state',
  help: 'State of each breaker that ever changed: 0 closed, 1 half-open, 2 open. For other: the sum.',
  open: 'breaker',
  words: [],
  seriesEach: 1,
  combinations: 1,
}
const PARKED: Definition = {
  name: 'reprise_parked',
  help: 'Attempts that stand in line at a budget now.',
  open: 'budget',
  words: [],
  seriesEach: 1,
  combinations: 1,
}

const TASKS: Definition = {
  name: 'reprise_task_events_total',
  help: 'What happened to durable tasks beside their attempts.',
  open: 'key',
  words: ['event'],
  seriesEach: 1,
  combinations: TASK_EVENTS.length,
}

/** What became of tasks that earlier processes had left; see the event `restored`. */
export const RESTORED = ['resumed', 'waiting', 'migrated', 'refused'] as const
const RESTORES = { name: 'reprise_restore_seconds', help: 'How long resumes took to look at what was left.' }
const RESTORED_TASKS = {
  name: 'reprise_restored_tasks_total',
  help: 'Tasks that a resume has found: taken over, waiting, given a retry state, refused.',
}

const DEFINITIONS = [CALLS, ATTEMPTS, WAITS, ATTEMPT_TIMES, DECISIONS, BREAKERS, PARKED, TASKS]

/** What `other` may take of the room in the worst case, over all families. */
export const RESERVED_SERIES: number = DEFINITIONS.reduce(
  (sum, { seriesEach, combinations }) => sum + seriesEach * combinations,
  SERIES_PER_HISTOGRAM + RESTORED.length,
)

export interface Families {
  readonly calls: Family<Cell>
  readonly attempts: Family<Cell>
  readonly waits: Family<Durations>
  readonly attemptTimes: Family<Durations>
  readonly decisions: Family<Cell>
  readonly breakers: Family<Cell>
  readonly parked: Family<Cell>
  readonly tasks: Family<Cell>
  /** Without a name of their own: they are of a process. */
  readonly restores: Durations
  readonly restored: Record<(typeof RESTORED)[number], number>
}

export function createFamilies(maxSeries: number): Families {
  const room = new Room(maxSeries - RESERVED_SERIES)
  const cells = (definition: Definition): Family<Cell> => new Family(definition, room, () => new Cell())
  const durations = (definition: Definition): Family<Durations> => new Family(definition, room, () => new Durations())
  return {
    calls: cells(CALLS),
    attempts: cells(ATTEMPTS),
    waits: durations(WAITS),
    attemptTimes: durations(ATTEMPT_TIMES),
    decisions: cells(DECISIONS),
    breakers: cells(BREAKERS),
    parked: cells(PARKED),
    tasks: cells(TASKS),
    restores: new Durations(),
    restored: { resumed: 0, waiting: 0, migrated: 0, refused: 0 },
  }
}

export function readFamilies(families: Families): readonly MetricFamily[] {
  return [
    readCells(CALLS, 'counter', families.calls),
    readCells(ATTEMPTS, 'counter', families.attempts),
    readDurations(WAITS, families.waits),
    readDurations(ATTEMPT_TIMES, families.attemptTimes),
    readCells(DECISIONS, 'counter', families.decisions),
    readCells(BREAKERS, 'gauge', families.breakers),
    readCells(PARKED, 'gauge', families.parked),
    readCells(TASKS, 'counter', families.tasks),
    ...readRestores(families),
  ]
}

/** Nothing before the first resume: most programs have none. */
function readRestores({ restores, restored }: Families): MetricFamily[] {
  const times = restores.read()
  if (times.count === 0) return []
  const counted = RESTORED.map((result) => ({ labels: { result }, value: restored[result] }))
  return [
    { ...RESTORES, type: 'histogram', samples: [{ labels: {}, ...times }] },
    { ...RESTORED_TASKS, type: 'counter', samples: counted },
  ]
}

function readCells({ name, help }: Definition, type: 'counter' | 'gauge', family: Family<Cell>): MetricFamily {
  return { name, help, type, samples: family.read().map(({ labels, value }) => ({ labels, value: value.value })) }
}

function readDurations({ name, help }: Definition, family: Family<Durations>): MetricFamily {
  return {
    name,
    help,
    type: 'histogram',
    samples: family.read().map(({ labels, value }) => ({ labels, ...value.read() })),
  }
}
