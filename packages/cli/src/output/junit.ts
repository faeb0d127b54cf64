/**
 * A run as a JUnit report: a test case for each step, with its time, attempts, failure and the end of its output. In
 * pieces, so that a run of very many steps is never in memory as text.
 *
 * Invariant: whatever steps are called and say, it is well-formed XML. Imports XML, the tails of logs and words.
 */
import { failureText, type RunDetail, type StepView, stopWords } from '@reprise/workflow/internal'
import { tailOf } from './log-tail.js'
import { tag, xmlLines, xmlText, xmlValue } from './xml.js'

/** Of the last attempt of each step. */
const TAIL_LINES = 20
const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'

type Kind = 'passed' | 'failure' | 'error' | 'skipped'

/** How a step counts; `error` is what did not come to an end. */
const KINDS: Readonly<Record<StepView['state'], Kind>> = {
  succeeded: 'passed',
  recovered: 'passed',
  failed: 'failure',
  running: 'error',
  retrying: 'error',
  parked: 'error',
  interrupted: 'error',
  undecided: 'error',
  cancelled: 'error',
  pending: 'skipped',
  skipped: 'skipped',
}

/** Times are those that steps ran for; how long a run waited, and lay still between two processes, are properties. */
export function* junitOf(run: RunDetail): Generator<string> {
  const { id, name, state, steps, startedAtMs, activeMs, waitedMs, downMs } = run
  const counts = countsOf(steps)
  const time = seconds(activeMs)
  const timestamp = new Date(startedAtMs).toISOString().replace(/\.\d+Z$/, '')
  const suite = { name: xmlValue(name), ...counts, time, timestamp }
  const properties = [
    property('run', id),
    property('state', state),
    property('waited', seconds(waitedMs)),
    property('down', seconds(downMs)),
  ]
  yield `${DECLARATION}${open('testsuites', { name: 'reprise', ...counts, time })}\n${open('testsuite', suite)}\n`
  yield `${tag('properties', {}, properties)}\n`
  for (const step of steps) yield `${testCase(step, name)}\n`
  yield '</testsuite>\n</testsuites>\n'
}

/** Of a run of which no more is known: it has not ended, or could not be read. */
export function* junitOfError(name: string, runId: string, message: string): Generator<string> {
  const counts = { tests: '1', failures: '0', errors: '1', skipped: '0' }
  const error = tag('error', { message: xmlValue(message, 2000), type: 'run' })
  const one = tag('testcase', { classname: xmlValue(name), name: xmlValue(`run ${runId}`), time: '0' }, error)
  yield `${DECLARATION}${open('testsuites', { name: 'reprise', ...counts })}\n`
  yield `${tag('testsuite', { name: xmlValue(name), ...counts }, one)}\n</testsuites>\n`
}

/** Counts are written as texts: numbers are rounded. */
function countsOf(steps: readonly StepView[]): Readonly<Record<string, string>> {
  const among = (kind: Kind): string => String(steps.filter((step) => KINDS[step.state] === kind).length)
  return { tests: String(steps.length), failures: among('failure'), errors: among('error'), skipped: among('skipped') }
}

function testCase(step: StepView, workflow: string): string {
  const { name, activeMs, attempts, attemptsAllowed, waitedMs, history } = step
  const time = seconds(activeMs)
  const properties = [
    property('attempts', String(attempts)),
    property('attempts_allowed', String(attemptsAllowed)),
    property('waited', seconds(waitedMs)),
  ]
  const log = history.findLast((attempt) => attempt.log !== null)?.log ?? null
  const inside = [tag('properties', {}, properties), outcomeOf(step), outputOf(log)].filter((part) => part !== '')
  return tag('testcase', { classname: xmlValue(workflow), name: xmlValue(name), time }, `\n${inside.join('\n')}\n`)
}

function outcomeOf(step: StepView): string {
  const { state, stopReason, failure, attempts } = step
  const kind = KINDS[state]
  if (kind === 'passed') return ''
  if (kind === 'skipped')
    return tag('skipped', { message: state === 'pending' ? 'not run' : 'skipped by its condition' })
  const cause = failureText(failure)
  const message = cause === '' ? state : cause
  const why = [`${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`, stopWords(step), failure?.message ?? '']
  const said = why.filter((part) => part !== '').flatMap((part) => part.split('\n'))
  return tag(
    kind,
    { message: xmlValue(message), type: stopReason ?? state },
    said.map((line) => xmlText(line)).join('\n'),
  )
}

function outputOf(log: string | null): string {
  if (log === null) return ''
  const { lines, isCut } = tailOf(log, TAIL_LINES)
  const head = isCut ? [`… the end of ${log}`] : []
  return lines.length === 0 ? '' : tag('system-out', {}, xmlLines([...head, ...lines]))
}

function property(name: string, value: string): string {
  return tag('property', { name, value: xmlValue(value) })
}

function seconds(ms: number): string {
  return (Math.max(0, ms) / 1000).toFixed(3)
}

function open(name: string, values: Readonly<Record<string, string>>): string {
  return tag(name, values, '').replace(`</${name}>`, '')
}
