/**
 * A map that runs as lines of a live view: a bar with its rate and the time that is left, what has become of its items,
 * what holds it, and the items that run. None is longer than the window. Text of others is made plain. Imports the
 * model, words and widths.
 */
import { plainText } from 'reprise/internal'
import type { Display } from '../display.js'
import { agentNames } from '../agent-names.js'
import { coarseDuration, elapsed } from '../relative-time.js'
import { rateText } from '../runs/map-facts.js'
import { itemLabel, itemPaint, stepLabel, stepPaint } from '../state-words.js'
import { cutText, padText, textWidth } from '../width.js'
import type { ActiveMap } from './run-model.js'

const NARROW = 64
const LABEL = textWidth('✓ recovered')
const MAX_NAME = 30
const MAX_KEY = 40

/** At most `space` lines: the bar first, the running items last. */
export function mapRows(
  map: ActiveMap,
  name: string,
  { nowMs, cells, space }: { readonly nowMs: number; readonly cells: number; readonly space: number },
  display: Display,
): string[] {
  const lines = [
    barLine(map, name, cells, display),
    ...stateLine(map, cells, display),
    ...agentLine(map, cells, display),
  ]
  const head = lines.slice(0, Math.max(0, space))
  const left = space - head.length
  const items = map.running.slice(0, map.running.length > left ? Math.max(0, left - 1) : left)
  const hidden = map.counts.running - items.length
  return [
    ...head,
    ...items.map((item) => itemLine(item, nowMs, cells, display)),
    ...(hidden > 0 && left > items.length && items.length > 0
      ? [display.style.dim(cutText(`  … ${hidden} more running`, cells))]
      : []),
  ]
}

/** `▶ running  resize  [████░░░░]  120/1000 items  11/s, about 1m left`. */
function barLine(
  { counts, perSecond, etaMs, isPaused }: ActiveMap,
  name: string,
  cells: number,
  display: Display,
): string {
  const gap = cells < NARROW ? ' ' : '  '
  const ended = counts.total - counts.pending - counts.running - counts.retrying
  const share = counts.total === 0 ? 1 : ended / counts.total
  const rate = perSecond === null || isPaused ? '' : `${rateText(perSecond)}/s`
  const eta = etaMs === null || isPaused || ended === counts.total ? '' : `about ${coarseDuration(etaMs)} left`
  const shown = plainText(name, MAX_NAME)
  const done = `${ended}/${counts.total}${cells < NARROW ? '' : ' items'}`
  const label = padText(stepLabel('running', display), LABEL)
  const parts: (readonly [text: string, painted: string])[] = [
    [shown, display.style.bold(shown)],
    [drawBar(share, cells < NARROW ? 8 : 20, display), drawBar(share, cells < NARROW ? 8 : 20, display)],
    [done, done],
    [rate, rate],
    [eta, eta],
  ]
  return joined(label, stepPaint('running', display), parts, gap, cells)
}

/** What has become of items, what holds the map; no line where there is nothing to say. */
function stateLine({ counts, recovered, heldBy, isPaused }: ActiveMap, cells: number, display: Display): string[] {
  const { succeeded, retrying, skipped, dead, undecided, cancelled } = counts
  const states = { dead, skipped, undecided, succeeded, retrying, cancelled } as const
  const parts = (Object.keys(states) as (keyof typeof states)[]).flatMap((state) => {
    if (states[state] === 0) return []
    const text = `${states[state]} ${itemLabel(state, display).slice(2)}`
    return [[text, itemPaint(state, display)(text)] as const]
  })
  const again =
    recovered === 0 ? [] : [[`${recovered} recovered`, display.style.green(`${recovered} recovered`)] as const]
  const held = heldBy === null ? '' : `held by ${plainText(heldBy.gate)} (${plainText(heldBy.reason)})`
  const why = isPaused ? 'paused by hand' : held
  const all = [...(why === '' ? [] : [[why, display.style.yellow(why)] as const]), ...parts, ...again]
  return all.length === 0 ? [] : [joined(' '.repeat(LABEL), (text) => text, all, cells < NARROW ? ' ' : '  ', cells)]
}

/** Processes beside the one that executes the run; no line where there are none. */
function agentLine({ agents }: ActiveMap, cells: number, { style }: Display): string[] {
  if (agents.length === 0) return []
  const gap = cells < NARROW ? ' ' : '  '
  return [' '.repeat(LABEL) + gap + style.dim(cutText(agentNames(agents), Math.max(0, cells - LABEL - gap.length)))]
}

function itemLine(
  { key, attempt, startedAtMs }: ActiveMap['running'][number],
  nowMs: number,
  cells: number,
  display: Display,
): string {
  const gap = cells < NARROW ? ' ' : '  '
  const shown = cutText(plainText(key, 200), Math.min(MAX_KEY, Math.max(8, cells >> 1)))
  const since = elapsed(nowMs - startedAtMs)
  const again = attempt > 1 ? display.style.yellow(`attempt ${attempt}`) : ''
  const parts = [
    [shown, shown] as const,
    [since, display.style.dim(since)] as const,
    [attempt > 1 ? `attempt ${attempt}` : '', again] as const,
  ]
  return joined(' '.repeat(LABEL), (text) => text, parts, gap, cells)
}

/** Parts that have space, one after the other; the first that has none ends the line. */
function joined(
  label: string,
  paint: (text: string) => string,
  parts: readonly (readonly [text: string, painted: string])[],
  gap: string,
  cells: number,
): string {
  let line = paint(cutText(label, cells))
  let left = cells - textWidth(label)
  for (const [text, painted] of parts) {
    if (text === '') continue
    left -= textWidth(text) + gap.length
    if (left < 0) break
    line += gap + painted
  }
  return line
}

export function drawBar(share: number, cells: number, { blocks }: Display): string {
  const full = Math.floor(share * cells)
  const [solid, open] = blocks ? ['█', '░'] : ['#', '.']
  return `[${solid.repeat(full)}${open.repeat(cells - full)}]`
}
