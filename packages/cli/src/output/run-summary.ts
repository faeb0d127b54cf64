/**
 * What is said when a run has ended: what recovered, what failed and why, what nobody knows, what to type next. The last
 * line says how it ended. Text of others is made plain. Imports words and types.
 */
import {
  attemptsText,
  denierOf,
  failureReason,
  failureText,
  fallbackId,
  type MapView,
  plural,
  roundedDuration,
  type RunDetail,
  type RunExcerpt,
  type StepView,
  stopWords,
  timeWords,
} from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import type { Display } from './display.js'
import { type CommandWords, plainCommand } from './next-commands.js'
import { countWords, runPaint, runWord } from './state-words.js'
import { pathFromHere } from './path-from-here.js'
import { mapFacts, mapNextSteps } from './runs/map-facts.js'
import { padText, textWidth } from './width.js'
import { wrapCommand, wrapText } from './wrap.js'

/** Steps of each kind that are listed. */
export const MAX_LISTED = 20
const MAX_NAME = 60
/** Fewer cells beside a name say nothing. */
const MIN_BESIDE = 28

/** A run with all of its steps, or with those that are told of and how many there are. */
type Summed = RunDetail & Partial<Pick<RunExcerpt, 'totals'>>

/** Lines for people; without `--quiet`, also what went well. `left`: items that wait, since only a part was asked for. */
export function runSummary(run: Summed, display: Display, command: CommandWords = plainCommand, left = 0): string[] {
  const last = lastLines(run, display, command, left)
  if (display.quiet) return run.state === 'succeeded' ? [] : last
  const blocks = [
    block(display.style.green('Recovered:'), 'recovered', recoveredLines, run, display, command),
    block(display.style.red('Failed:'), 'failed', failedLines, run, display, command),
    block(display.style.red('Undecided:'), 'undecided', undecidedLines, run, display, command),
    ...run.steps.filter(hasNews).map((step) => mapBlock(step, display)),
    nextLines(run, display, command),
    last,
  ]
  return blocks.filter((lines) => lines.length > 0).flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]))
}

/** A map of which something recovered, failed or waits. */
function hasNews({ map }: StepView): boolean {
  return map !== null && map !== undefined && (map.failures.length > 0 || map.halted !== null || map.isPaused)
}

function mapBlock(step: StepView, display: Display): string[] {
  return [display.style.yellow('Items:'), ...mapFacts(step, display)]
}

function block(
  title: string,
  state: keyof RunExcerpt['totals'],
  linesOf: (step: StepView, run: RunDetail) => string[],
  run: Summed,
  display: Display,
  command: CommandWords,
): string[] {
  // Maps have a block of their own, unless they could not begin: then there are no items to tell of.
  const isPlain = ({ map, failure }: StepView): boolean => !map || failure !== null
  const steps = run.steps.filter((step) => step.state === state && isPlain(step))
  if (steps.length === 0) return []
  const shown = display.verbose ? steps : steps.slice(0, MAX_LISTED)
  const nameOf = (step: StepView): string => plainText(step.name, MAX_NAME)
  const widest = shown.reduce((most, step) => Math.max(most, textWidth(nameOf(step))), 0)
  // A long name in a narrow window leaves no space beside it.
  const isBeside = widest + MIN_BESIDE <= display.screen
  const lines = shown.flatMap((step) => {
    const texts = linesOf(step, run)
    const name = display.style.bold(padText(nameOf(step), isBeside ? widest : 0))
    if (!isBeside) return [`  ${name}`, ...texts.flatMap((text) => wrapText('    ', text, display.screen))]
    const indent = ' '.repeat(widest + 4)
    return texts.flatMap((text, index) => wrapText(index === 0 ? `  ${name}  ` : indent, text, display.screen))
  })
  const left = (run.totals?.[state] ?? steps.length) - shown.length
  return [title, ...lines, ...(left > 0 ? [`  … and ${left} more: ${command(['show', run.id])}`] : [])]
}

function recoveredLines({ attempts, attemptsAllowed, waitedMs, history }: StepView): string[] {
  const cause = failureText(history.findLast(({ failure }) => failure !== null)?.failure ?? null)
  const waited = waitedMs > 0 ? `, waited ${roundedDuration(waitedMs)}` : ''
  return [`at attempt ${attempts}/${attemptsAllowed}${waited}${cause === '' ? '' : `, after ${cause}`}`]
}

function failedLines(step: StepView, { steps, failedStep }: RunDetail): string[] {
  const { attempts, waitedMs, stopReason, failure, log, map } = step
  const waited = waitedMs > 0 ? `, waited ${roundedDuration(waitedMs)}` : ''
  const why = stopReason === null ? '' : `: ${stopWords(step)}`
  const fallback = steps.find(({ id }) => id === fallbackId(step))
  const isEnd = step.id === failedStep
  const instead =
    fallback?.state !== 'succeeded' ? '' : isEnd ? 'its fallback ran, and ended the run' : 'its fallback ran instead'
  const head = map ? 'no item has run, since the map could not begin' : `${attemptsText(attempts)}${waited}${why}`
  const lines = [head, failureText(failure), instead]
  return [...lines, ...(log === null ? [] : [`log: ${plainText(pathFromHere(log), 1000)}`])].filter(
    (line) => line !== '',
  )
}

function undecidedLines({ attempts, attemptsAllowed }: StepView): string[] {
  return [
    `attempt ${Math.max(1, attempts)}/${attemptsAllowed} was interrupted, and it is not known whether it took effect`,
  ]
}

/** Commands with what they are for: beside them where all of them fit, else below. */
function nextLines(run: RunDetail, { style, screen }: Display, command: CommandWords): string[] {
  const steps = nextSteps(run).map(([words, text]) => [command(words), text] as const)
  const widest = steps.reduce((most, [typed]) => Math.max(most, textWidth(typed)), 0)
  const lead = `${style.cyan('next:')} `
  const isBeside = steps.every(([, text]) => textWidth(lead) + widest + 2 + textWidth(text) <= screen)
  return steps.flatMap(([typed, text]) =>
    isBeside
      ? [`${lead}${padText(typed, widest)}  ${style.dim(text)}`]
      : [...wrapCommand(lead, typed, screen), `${' '.repeat(textWidth(lead))}${style.dim(text)}`],
  )
}

function nextSteps({ id, state, steps, failedStep, stopReason }: RunDetail): [words: string[], text: string][] {
  const undecided = steps.find((step) => step.state === 'undecided')
  if (undecided !== undefined) {
    return [
      [['logs', id, undecided.id], 'its output'],
      [['resume', id, '--done', undecided.id], 'if it took effect'],
      [['resume', id, '--rerun', undecided.id], 'if it did not'],
    ]
  }
  if (state !== 'failed' && state !== 'completed_with_failures') return []
  const failed = steps.find((step) => (failedStep === null ? step.state === 'failed' : step.id === failedStep))
  const what = steps.some(({ map }) => map) ? 'what failed' : 'the failed steps'
  const isOutOfTime = state === 'failed' && stopReason === 'timeout'
  const isReset = isOutOfTime || steps.some((step) => step.state === 'failed' && (!step.map || hasResettable(step.map)))
  return [
    ...mapNextSteps(id, steps),
    ...(failed === undefined || failed.log === null
      ? []
      : ([[['logs', id, failed.id], 'its output']] as [string[], string][])),
    [['show', id], 'every step and attempt'],
    ...breakerSteps(steps),
    ...budgetSteps(steps),
    ...(isReset ? ([[['resume', id, '--reset-retries'], `retry ${what}`]] as [string[], string][]) : []),
  ]
}

/** Fresh attempts are denied for as long as the breaker is open. */
function breakerSteps(steps: readonly StepView[]): [words: string[], text: string][] {
  const failed = steps.filter(({ state }) => state === 'failed')
  const names = [...new Set(failed.flatMap(({ failure }) => denierOf('breaker', failure) ?? []))]
  const [name] = names
  if (name === undefined) return []
  return [
    [
      ['breakers', 'list'],
      `when ${names.length === 1 ? `breaker ${plainText(name, MAX_NAME)}` : 'breakers'} will let attempts through: wait until then`,
    ],
    ...names.map((one): [string[], string] => [['breakers', 'reset', one], 'or close it now']),
  ]
}

/** Fresh attempts ask the budget as well. */
function budgetSteps(steps: readonly StepView[]): [words: string[], text: string][] {
  const failed = steps.filter(({ state }) => state === 'failed')
  const names = [...new Set(failed.flatMap(({ failure }) => denierOf('budget', failure) ?? []))]
  const [name] = names
  if (name === undefined) return []
  const which = names.length === 1 ? `budget ${plainText(name, MAX_NAME)}` : 'the budgets'
  return [[['budgets', 'list'], `what ${which} ${names.length === 1 ? 'has' : 'have'} left: fresh attempts ask again`]]
}

/** Whether a resume with fresh attempts would run items again: undecided ones wait for a decision. */
function hasResettable({ counts, halted }: MapView): boolean {
  return halted !== null || counts.dead + counts.skipped + counts.cancelled > 0
}

/** How it ended, and for one that was interrupted how to go on. */
function lastLines(run: RunDetail, display: Display, command: CommandWords, left: number): string[] {
  const { id, name, state, resumes, stopReason, failedStep, counts, steps } = run
  const took = timeWords(run).join(', ')
  const resumed = resumes > 0 ? `, resumed ${resumes}×` : ''
  const failed = steps.find((step) => step.id === failedStep)
  const why = failureReason(failed?.name ?? failedStep, { ...failed, stopReason })
  const head = runPaint(state, display)(runWord(state))
  const about = `${plainText(name, MAX_NAME)}, run ${plainText(id)}, took ${took}${resumed}`
  const end = `${head}: ${about} (${countWords(counts, display)})${why === '' ? '' : `: ${why}`}`
  const lines = wrapText('', end, display.screen)
  if (state !== 'interrupted') return lines
  const lead =
    left === 0 ? 'Resume with: ' : `${plural(left, 'item')} ${left === 1 ? 'waits' : 'wait'}. Run the rest with: `
  return [...lines, ...wrapCommand(lead, command(['resume', id]), display.screen)]
}
