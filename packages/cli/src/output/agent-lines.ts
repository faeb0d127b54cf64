/**
 * What an agent tells as lines: what it joins, why it waits, items that fail, at a bounded rate, and what it has done. Text
 * of others is made plain. Imports words and types.
 */
import { type AgentCounts, type AgentEvent, failureText, plural } from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import { countsText } from './map-lines.js'
import type { CommandWords } from './next-commands.js'

/** Failed attempts that are told of in a second: the others are counted. */
const MOST_A_SECOND = 10

export interface LineParts {
  readonly display: { readonly verbose: boolean }
  readonly command: CommandWords
}

export class AgentLines {
  private readonly parts: LineParts
  private told = { sinceMs: 0, count: 0 }

  constructor(parts: LineParts) {
    this.parts = parts
  }

  linesOf(event: AgentEvent): string[] {
    const { command } = this.parts
    switch (event.type) {
      case 'agent_started':
        return [
          `Agent of run ${event.run} (${plainText(event.name)}): up to ${plural(event.parallel, 'item')} at a time. Stop with Ctrl-C.`,
        ]
      case 'agent_idle':
        if (event.reason === 'no_map') return ['Waiting: no map of the run has items to run now.']
        return [
          `Waiting: no process is executing run ${event.run}.`,
          `next, in another terminal: ${command(['resume', event.run])}`,
        ]
      case 'map_joined': {
        const { pid, host } = event.conductor
        const conductor = `process ${pid} on ${plainText(host)} executes the run`
        return [`Running items of ${event.step}: ${countsText(event.counts)}; ${conductor}.`]
      }
      case 'map_note':
        return [`Note on ${event.step}: ${plainText(event.message)}`]
      case 'map_left':
        return [`Map ${event.step} has ended.`]
      case 'item_attempt_finished':
        return this.attemptLines(event)
      case 'agent_finished':
        return [`${endText(event)}${attemptsText(event.attempts)}`]
    }
  }

  private attemptLines(event: Extract<AgentEvent, { type: 'item_attempt_finished' }>): string[] {
    const { step, item, attempt, outcome, failure, timeMs } = event
    if (outcome === 'success' && !this.parts.display.verbose) return []
    if (timeMs - this.told.sinceMs >= 1000) this.told = { sinceMs: timeMs, count: 0 }
    if (++this.told.count > MOST_A_SECOND && !this.parts.display.verbose) return []
    const why = failureText(failure)
    return [`${step}: item ${plainText(item)}, attempt ${attempt}: ${outcome}${why === '' ? '' : `: ${why}`}`]
  }
}

function endText({ run, reason, state }: Extract<AgentEvent, { type: 'agent_finished' }>): string {
  if (reason === 'stopped') return `Left run ${run}: items that ran here go back to the map.`
  if (reason === 'maps_ended') return `The maps of run ${run} have ended.`
  return state === null ? `Run ${run} was removed.` : `Run ${run} has ended: ${state}.`
}

function attemptsText({ succeeded, failed, interrupted }: AgentCounts): string {
  const parts = Object.entries({ succeeded, failed, interrupted }).filter(([, count]) => count > 0)
  return ` Attempts here: ${parts.length === 0 ? 'none' : parts.map(([word, count]) => `${count} ${word}`).join(', ')}.`
}
