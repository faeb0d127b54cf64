/**
 * How states look: a sign, a word and a colour each, so that none is said by colour alone. Imports styles and types.
 * What retries and what has failed differ in all three.
 */
import type { RunState, StepState } from '@reprise/workflow'
import type { ItemState } from '@reprise/workflow/internal'
import type { Display } from './display.js'
import type { Style } from './style.js'

interface Appearance {
  readonly sign: string
  /** Where blocks cannot be shown. */
  readonly ascii: string
  readonly word: string
  readonly color: keyof Style
}

const STEPS: Readonly<Record<StepState, Appearance>> = {
  pending: { sign: '·', ascii: '.', word: 'pending', color: 'dim' },
  running: { sign: '▶', ascii: '>', word: 'running', color: 'cyan' },
  retrying: { sign: '↻', ascii: '~', word: 'retrying', color: 'yellow' },
  parked: { sign: '‖', ascii: '=', word: 'parked', color: 'yellow' },
  interrupted: { sign: '‖', ascii: '=', word: 'interrupted', color: 'yellow' },
  undecided: { sign: '?', ascii: '?', word: 'undecided', color: 'red' },
  succeeded: { sign: '✓', ascii: '+', word: 'ok', color: 'green' },
  recovered: { sign: '✓', ascii: '+', word: 'recovered', color: 'green' },
  skipped: { sign: '-', ascii: '-', word: 'skipped', color: 'dim' },
  failed: { sign: '✗', ascii: 'x', word: 'FAILED', color: 'red' },
  cancelled: { sign: '■', ascii: '#', word: 'cancelled', color: 'dim' },
}

const RUNS: Readonly<Record<RunState, Appearance>> = {
  running: { ...STEPS.running, word: 'running' },
  interrupted: STEPS.interrupted,
  succeeded: { ...STEPS.succeeded, word: 'succeeded' },
  completed_with_failures: { sign: '!', ascii: '!', word: 'completed with failures', color: 'yellow' },
  failed: { ...STEPS.failed, word: 'FAILED' },
  cancelled: { ...STEPS.cancelled, word: 'cancelled' },
}

const ITEMS: Readonly<Record<ItemState, Appearance>> = {
  pending: STEPS.pending,
  running: STEPS.running,
  retrying: STEPS.retrying,
  succeeded: STEPS.succeeded,
  skipped: { ...STEPS.failed, word: 'skipped' },
  dead: { ...STEPS.failed, word: 'DEAD' },
  cancelled: STEPS.cancelled,
  undecided: STEPS.undecided,
}

type Seen = Pick<Display, 'style' | 'blocks'>

export function stepWord(state: StepState): string {
  return STEPS[state].word
}

/** `↻ retrying`, without colour. */
export function stepLabel(state: StepState, display: Pick<Display, 'blocks'>): string {
  return label(STEPS[state], display)
}

export function stepPaint(state: StepState, { style }: Pick<Seen, 'style'>): (text: string) => string {
  return paint(STEPS[state], style)
}

export function itemLabel(state: ItemState, display: Pick<Display, 'blocks'>): string {
  return label(ITEMS[state], display)
}

export function itemPaint(state: ItemState, { style }: Pick<Seen, 'style'>): (text: string) => string {
  return paint(ITEMS[state], style)
}

export function runWord(state: RunState): string {
  return RUNS[state].word
}

export function runLabel(state: RunState, display: Pick<Display, 'blocks'>): string {
  return label(RUNS[state], display)
}

export function runPaint(state: RunState, { style }: Pick<Seen, 'style'>): (text: string) => string {
  return paint(RUNS[state], style)
}

/** `1 FAILED`, `9 ok`, `2 recovered`, plain and painted; nothing of those that there are none of. */
export function countParts(
  counts: Readonly<Partial<Record<StepState, number>>>,
  { style }: Pick<Seen, 'style'>,
): { readonly text: string; readonly painted: string }[] {
  return COUNT_ORDER.flatMap((state) => {
    const text = `${counts[state] ?? 0} ${STEPS[state].word}`
    return (counts[state] ?? 0) === 0 ? [] : [{ text, painted: paint(STEPS[state], style)(text) }]
  })
}

/** `1 FAILED, 9 ok, 2 recovered`. */
export function countWords(counts: Readonly<Partial<Record<StepState, number>>>, display: Pick<Seen, 'style'>): string {
  return countParts(counts, display)
    .map(({ painted }) => painted)
    .join(', ')
}

/** What has ended first, the bad before the good: where space is short, it is the good that is left out. */
const COUNT_ORDER: readonly StepState[] = [
  'failed',
  'undecided',
  'succeeded',
  'recovered',
  'skipped',
  'cancelled',
  'running',
  'retrying',
  'parked',
  'interrupted',
  'pending',
]

function label({ sign, ascii, word }: Appearance, { blocks }: Pick<Display, 'blocks'>): string {
  return `${blocks ? sign : ascii} ${word}`
}

function paint({ color }: Appearance, style: Style): (text: string) => string {
  return style[color]
}
