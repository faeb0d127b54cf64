/**
 * A map as lines in a pipe, at a bounded rate: its start, its progress now and then, items that failed for good, and its
 * end. Text of others is made plain. Imports words and types.
 */
import type { MapCounts, RunEvent } from '@reprise/workflow'
import { attemptsText, failureText, haltText, plural, roundedDuration } from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import type { Display } from './display.js'
import { agentNames } from './agent-names.js'
import type { StepNames } from './step-names.js'

type EventOf<T> = Extract<RunEvent, { readonly type: T }>
type MapEvent = EventOf<'map_started' | 'map_progress' | 'map_note' | 'item_failed' | 'map_finished'>

/** How often the progress is a line. */
const PROGRESS_EVERY_MS = 10_000

export class MapLines {
  private readonly display: Display
  private readonly names: StepNames
  private toldAtMs = 0
  /** The agents of each map, as they were told last. */
  private readonly agents = new Map<string, string>()

  constructor(display: Display, names: StepNames) {
    this.display = display
    this.names = names
  }

  linesOf(event: MapEvent): string[] {
    const name = this.names.nameOf(event)
    const { style } = this.display
    switch (event.type) {
      case 'map_started': {
        this.toldAtMs = event.timeMs
        const { total, pending, running, retrying } = event.counts
        // Agents run some, and what a killed process ran is still recorded as running.
        const left = pending + running + retrying
        return [`Running ${name}: ${plural(total, 'item')}${left === total ? '' : `, ${left} left`}`]
      }
      case 'map_progress':
        return this.progressLines(event, name)
      case 'map_note':
        return [`${style.yellow('Note')} on ${name}: ${plainText(event.message)}`]
      case 'item_failed': {
        const item = `item ${plainText(event.key)} of ${name}`
        const why = failureText(event.failure)
        const reason = ` (${event.stopReason})${why === '' ? '' : `: ${why}`}`
        return [`${style.red('FAILED')} ${item} after ${attemptsText(event.attemptsMade)}${reason}`]
      }
      case 'map_finished':
        return this.endLines(event, name)
    }
  }

  private progressLines(event: EventOf<'map_progress'>, name: string): string[] {
    const agents = agentNames(event.agents)
    const isChanged = agents !== (this.agents.get(event.step) ?? '')
    if (!isChanged && event.timeMs - this.toldAtMs < PROGRESS_EVERY_MS) return []
    this.toldAtMs = event.timeMs
    this.agents.set(event.step, agents)
    const { counts, perSecond, etaMs, heldBy, isPaused } = event
    const rate = perSecond === null ? '' : `, ${perSecond.toFixed(1)}/s`
    const eta = etaMs === null ? '' : `, about ${roundedDuration(etaMs)} left`
    const paused = isPaused ? ', paused by hand' : ''
    const held = heldBy === null ? paused : `, held by ${plainText(heldBy.gate)} (${plainText(heldBy.reason)})`
    const by = isChanged ? `, ${agents === '' ? 'no agents any more' : agents}` : ''
    return [`${name}: ${countsText(counts)}${rate}${eta}${held}${by}`]
  }

  private endLines({ state, counts, recovered, halted, failure }: EventOf<'map_finished'>, name: string): string[] {
    const { style } = this.display
    if (failure !== null) return [`${style.red('FAILED')} ${name}: ${failureText(failure)}`]
    const more = recovered > 0 ? ` (${recovered} recovered)` : ''
    const text = `${name}: ${countsText(counts)}${more}`
    switch (state) {
      case 'succeeded':
        return [`${style.green('ok')} ${text}`]
      case 'completed_with_failures':
        return [`${style.yellow('completed with failures')} ${text}`]
      case 'failed':
        return [`${style.red('STOPPED')} ${text}${halted === null ? '' : `: ${haltText(halted)}`}`]
      default:
        return [text]
    }
  }
}

/** `1000 items: 990 succeeded, 7 dead, 3 pending`. */
export function countsText({ total, ...counts }: MapCounts): string {
  const parts = Object.entries(counts).filter(([, count]) => count > 0)
  const list = parts.map(([state, count]) => `${count} ${state}`).join(', ')
  return list === '' ? plural(total, 'item') : `${plural(total, 'item')}: ${list}`
}
