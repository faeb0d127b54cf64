/**
 * A map in lines below a table: how many items are in which state, its rate and limits, its failures by kind, why it was
 * stopped and what to type then. Text of others is made plain. Imports words, commands to type and types.
 */
import { haltText, type MapView, plural, type StepView } from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import type { Display } from '../display.js'
import { countsText } from '../map-lines.js'
import type { CommandWords } from '../next-commands.js'
import { wrapCommand, wrapText } from '../wrap.js'

/** Kinds of failures that are listed. */
const MAX_FAILURES = 5
const MAX_SIGNATURE = 160
/** Agents that are named; the others are counted. */
const MAX_AGENTS = 5

/** Lines about the items of a map; none if it has not begun. */
export function mapFacts({ name, map }: StepView, display: Display): string[] {
  if (!map) return []
  return [
    ...wrapText('  ', `${plainText(name)}: ${countsText(map.counts)}${recoveredText(map)}`, display.width),
    ...wrapText('    ', limitsText(map), display.width),
    ...agentLines(map, display),
    ...failureLines(map, display),
    ...haltLines(map, display),
  ]
}

function recoveredText({ recovered }: MapView): string {
  return recovered === null || recovered === 0 ? '' : ` (${recovered} recovered)`
}

function limitsText({ perSecond, maxParallel, perSecondAllowed, maxFailures, isPaused }: MapView): string {
  const parts = [
    perSecond === null ? '' : `${rateText(perSecond)} ended per second`,
    `at most ${maxParallel} at a time`,
    perSecondAllowed === null ? '' : `at most ${rateText(perSecondAllowed)} started per second`,
    maxFailures === null ? '' : `stops at ${plural(maxFailures, 'failed item')}`,
    isPaused ? 'paused by hand' : '',
  ]
  return parts.filter((part) => part !== '').join(', ')
}

/** `2 agents run items too: process 4711 on vm, process 4712 on vm`. */
function agentLines({ agents }: MapView, display: Display): string[] {
  if (agents.length === 0) return []
  const named = agents.slice(0, MAX_AGENTS).map(({ pid, host }) => `process ${pid} on ${plainText(host)}`)
  const left = agents.length - MAX_AGENTS
  const text = [...named, ...(left > 0 ? [`${left} more`] : [])].join(', ')
  return wrapText(
    '    ',
    `${plural(agents.length, 'agent')} ${agents.length === 1 ? 'runs' : 'run'} items too: ${text}`,
    display.width,
  )
}

export function rateText(perSecond: number): string {
  return perSecond >= 10 ? String(Math.round(perSecond)) : String(Number(perSecond.toPrecision(2)))
}

/** `3 items failed: exit code 3: bad (2 recovered)`. */
function failureLines({ failures }: MapView, display: Display): string[] {
  const shown = failures.slice(0, MAX_FAILURES).flatMap(({ signature, items, failed, recovered, example }) => {
    const ends = [failed === 0 ? '' : `${failed} for good`, recovered === 0 ? '' : `${recovered} recovered`]
    const ended = ends.filter((end) => end !== '').join(', ')
    const cause = items === 1 ? (example?.message ?? signature) : signature
    const text = `${plural(items, 'item')} failed: ${plainText(cause, MAX_SIGNATURE)}${ended === '' ? '' : ` (${ended})`}`
    return wrapText('    ', text, display.width)
  })
  const left = failures.length - MAX_FAILURES
  return left > 0 ? [...shown, `    … and ${plural(left, 'further kind')} of failures`] : shown
}

function haltLines({ halted }: MapView, display: Display): string[] {
  return halted === null ? [] : wrapText('    ', `${display.style.red('stopped')}: ${haltText(halted)}`, display.width)
}

/** Commands for a map that has failed items. `isRunning`: without those that a run which is being executed refuses. */
export function mapNextSteps(
  run: string,
  maps: readonly StepView[],
  isRunning = false,
): [words: string[], text: string][] {
  const views = maps.flatMap(({ map }) => (map ? [map] : []))
  const dead = views.reduce((sum, { counts }) => sum + counts.dead, 0)
  const undecided = views.reduce((sum, { counts }) => sum + counts.undecided, 0)
  const stopped = views.find(({ halted }) => halted !== null && halted.kind === 'max_failures')
  const more = stopped === undefined ? 0 : stopped.counts.dead + stopped.counts.skipped + stopped.counts.undecided + 10
  return [
    ...given(dead + undecided > 0, [['dlq', 'list', run], 'the failed items']),
    ...given(dead > 0 && !isRunning, [['dlq', 'retry', run], 'run them again']),
    ...given(undecided > 0 && !isRunning, [['dlq', 'decide', run, '--done'], 'if the undecided items took effect']),
    ...given(undecided > 0 && !isRunning, [['dlq', 'decide', run, '--rerun'], 'if they did not']),
    ...given(stopped !== undefined, [['resume', run, '--max-failures', String(more)], 'continue with a higher limit']),
  ]
}

function given(isGiven: boolean, step: [words: string[], text: string]): [words: string[], text: string][] {
  return isGiven ? [step] : []
}

/** The same, a line each, below a page. */
export function mapNextLines(
  { id, isRunning }: { readonly id: string; readonly isRunning: boolean },
  maps: readonly StepView[],
  display: Display,
  command: CommandWords,
): string[] {
  const steps = mapNextSteps(id, maps, isRunning)
  if (steps.length === 0) return []
  return [
    '',
    ...steps.flatMap(([words]) => wrapCommand(`${display.style.cyan('next:')} `, command(words), display.screen)),
  ]
}
