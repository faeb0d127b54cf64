/**
 * Draws the timeline of a call as text: a row per attempt on one axis of time.
 * Runs are solid, the waits before them hatched, and an attempt that a budget denied is a tick.
 */
import { type AttemptRecord, formatDuration, type Timeline } from 'reprise'

export const LEGEND = '█ runs   ░ waits   ╳ denied by a budget'

const WIDTH = 44

const isTerminal = process.stdout.isTTY && !process.env['NO_COLOR'] && !process.env['CI']
const paint = (code: number) => (text: string) => (isTerminal ? `\u001b[${code}m${text}\u001b[39m` : text)
const [red, green, yellow, grey] = [31, 32, 33, 90].map(paint) as [Paint, Paint, Paint, Paint]
type Paint = (text: string) => string

const OUTCOMES: Record<AttemptRecord['outcome'], { readonly mark: string; readonly paint: Paint }> = {
  success: { mark: '✓', paint: green },
  failure: { mark: '✗', paint: red },
  timeout: { mark: '✗', paint: red },
  aborted: { mark: '·', paint: grey },
  interrupted: { mark: '·', paint: grey },
  denied: { mark: '✗', paint: yellow },
}

export function drawTimeline({ attempts, stopReason, totalDelayMs, elapsedMs }: Timeline): string {
  const took = round(elapsedMs)
  const startMs = Math.min(...attempts.map((attempt) => attempt.startMs - attempt.delayBeforeMs))
  const cells = (ms: number): number => (elapsedMs === 0 ? 0 : Math.round((ms / elapsedMs) * WIDTH))
  if (attempts.length === 0) return `  ${red(`stopped: ${stopReason}`)}, no attempt was made`
  const axis = grey(`0ms ${'─'.repeat(WIDTH - 5 - took.length)} ${took}`)
  const rows = attempts.map((attempt) => `  ${label(attempt)} ${bar(attempt, startMs, cells)}  ${ending(attempt)}`)
  const end = stopReason === undefined ? green('succeeded') : red(`stopped: ${stopReason}`)
  return [`           ${axis}`, ...rows, `  ${end}, waited ${round(totalDelayMs)} of ${took}`].join('\n')
}

function round(ms: number): string {
  return formatDuration(Math.round(ms))
}

function label({ launch, kind, outcome }: AttemptRecord): string {
  return `${launch} ${(outcome === 'denied' ? 'denied' : kind === 'hedge' ? 'hedge' : 'run').padEnd(6)}`
}

function bar(attempt: AttemptRecord, originMs: number, cells: (ms: number) => number): string {
  const begin = cells(attempt.startMs - attempt.delayBeforeMs - originMs)
  const start = cells(attempt.startMs - originMs)
  const end = Math.max(start + 1, cells(attempt.endMs - originMs))
  const run = attempt.outcome === 'denied' ? '╳' : '█'.repeat(end - start)
  const drawn = ' '.repeat(begin) + grey('░'.repeat(start - begin)) + OUTCOMES[attempt.outcome].paint(run)
  return drawn + ' '.repeat(Math.max(0, WIDTH + 1 - start - run.length))
}

function ending({ outcome, error, budget, breaker }: AttemptRecord): string {
  const { mark, paint: inColour } = OUTCOMES[outcome]
  const why = outcome === 'denied' ? `budget ${budget}` : outcome === 'failure' ? (error as Error).message : ''
  const probe = breaker === 'half_open' ? 'the breaker was half open' : ''
  return inColour([`${mark} ${outcome}`, why, probe].filter(Boolean).join(': '))
}
