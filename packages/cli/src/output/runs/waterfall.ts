/** A step on the line of its run's time: runs solid, waits hatched, resumes as a divider. Imports the axis and styles. */
import type { StepView } from '@reprise/workflow/internal'
import type { Display } from '../display.js'
import type { RunAxis } from './run-axis.js'

interface Signs {
  readonly solid: string
  readonly hatched: string
  readonly divider: string
}

const BLOCKS: Signs = { solid: '█', hatched: '░', divider: '┊' }
const ASCII: Signs = { solid: '#', hatched: '~', divider: '|' }

/** Exactly as many cells as the axis has, without colours. */
export function drawStep(step: StepView, axis: RunAxis, nowMs: number, { blocks }: Pick<Display, 'blocks'>): string {
  const signs = blocks ? BLOCKS : ASCII
  const line = Array.from({ length: axis.cells }, () => ' ')
  const fill = (fromMs: number, toMs: number, sign: string): void => {
    const at = Math.min(axis.cells - 1, Math.floor(axis.at(fromMs)))
    // What begins as the run is killed stands before the divider, not under it.
    const first = axis.dividers.includes(at) ? Math.max(0, at - 1) : at
    const end = Math.max(first + 1, Math.floor(axis.at(Math.max(fromMs, toMs)) + 1e-6))
    for (let cell = first; cell < Math.min(end, axis.cells); cell++) line[cell] = sign
  }
  for (const [fromMs, toMs] of waitsOf(step, nowMs)) fill(fromMs, toMs, signs.hatched)
  for (const [fromMs, toMs] of runsOf(step, nowMs)) fill(fromMs, toMs, signs.solid)
  for (const cell of axis.dividers) line[cell] = signs.divider
  return line.join('')
}

export function paintStep(line: string, { style, blocks }: Pick<Display, 'style' | 'blocks'>): string {
  const { solid, hatched, divider } = blocks ? BLOCKS : ASCII
  const runs = new RegExp(`[${solid}]+|[${hatched}]+|[${divider}]`, 'g')
  return line.replaceAll(runs, (run) =>
    run[0] === solid ? style.cyan(run) : run[0] === hatched ? style.yellow(run) : style.dim(run),
  )
}

type Span = readonly [fromMs: number, toMs: number]

function runsOf(step: StepView, nowMs: number): Span[] {
  const ended = step.history.map(({ startedAtMs, endedAtMs }): Span => [startedAtMs, endedAtMs])
  const startMs = step.state === 'running' ? currentStart(step) : null
  return startMs === null ? ended : [...ended, [startMs, nowMs]]
}

/** From the end of an attempt to the start of the next, where there was a delay between them. */
function waitsOf(step: StepView, nowMs: number): Span[] {
  const { history, state } = step
  const between = history.flatMap((attempt, index): Span[] => {
    const before = history[index - 1]
    return before === undefined || attempt.delayBeforeMs === 0 ? [] : [[before.endedAtMs, attempt.startedAtMs]]
  })
  const last = history.at(-1)
  if (last === undefined) return between
  if (state === 'retrying' || state === 'parked') return [...between, [last.endedAtMs, nowMs]]
  return state === 'running' ? [...between, [last.endedAtMs, currentStart(step) ?? nowMs]] : between
}

/** What was waited and is before no attempt that has ended was before the one that runs. */
function currentStart({ history, waitedMs, startedAtMs, generation }: StepView): number | null {
  const last = history.at(-1)
  if (last === undefined) return startedAtMs
  const before = history
    .filter((attempt) => attempt.generation === generation && attempt.execution === 1)
    .reduce((sum, { delayBeforeMs }) => sum + delayBeforeMs, 0)
  return last.endedAtMs + Math.max(0, waitedMs - before)
}
