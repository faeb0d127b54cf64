// @ts-check
/**
 * The results as text, a section for each scenario: a table beside the simulator's figures, a chart of every second,
 * the goals. What is printed and what RESULTS.md holds is the same. Imports the rig's parts.
 */
import { sum } from './figures.mjs'
import { callRateOf, callsEndMsOf, capacityOf, faultEndMsOf, queueLengthOf, workersInFault } from './rig.mjs'

/**
 * @typedef {import('./figures.mjs').Figures} Figures
 * @typedef {import('./rig.mjs').Scenario} Scenario
 * @typedef {import('./tally.mjs').Seconds} Seconds
 *
 * @typedef {object} Result of one policy
 * @property {string} subject
 * @property {Figures} real
 * @property {Figures | undefined} simulated undefined: the simulator cannot express the scenario
 * @property {Seconds} seconds
 * @property {Record<string, number>} stops
 * @property {import('./server.mjs').ServerReport} server
 * @property {import('./replay.mjs').Machine} machine
 *
 * @typedef {object} Section of one scenario
 * @property {Scenario} scenario
 * @property {Result[]} results
 * @property {import('./goals.mjs').Goal[]} goals
 *
 * @typedef {object} Data
 * @property {number} seed
 * @property {string} node
 * @property {Section[]} sections
 */

/** @param {Data} data */
export function textOf({ seed, node, sections }) {
  return [`Node ${node}, seed ${seed}.`, ...sections.map(sectionOf)].join('\n\n')
}

/** @param {Section} section */
function sectionOf({ scenario, results, goals }) {
  return [
    `## ${scenario.name}`,
    '',
    ...scenarioLines(scenario),
    '',
    ...table([FIGURE_HEAD, ...results.flatMap(figureRows)]),
    '',
    ...table([['the server', 'served', 'to nobody', 'refused', 'longest queue'], ...results.map(serverRow)]),
    '',
    ...table([['the machine', 'the rig', 'others', 'idle', 'timers late, p99', 'most'], ...results.map(machineRow)]),
    '',
    ...chartLines(results, scenario),
    '',
    ...goals.map(({ subject, goal, met }) => `- ${met ? '✓' : '✗'} ${subject}: ${goal}`),
  ].join('\n')
}

/** @param {string} text */
export function fileOf(text) {
  return `# Real storms

Written by \`npm run storm:real -- --write\`: real client processes, a real server process on loopback, a real fault.
The server serves every request that it has accepted, though the client may have given up. Each scenario is replayed
with the same arrivals for every policy; \`none\` is \`attempts: 1\` with the same time limits and no budget. Beside it,
what \`reprise/simulate\` says of the same numbers, where it can express the scenario: means of 20 seeds, of recovery the
median.

- *worst second*, *mean*: attempts ÷ calls in the fault;
- *answers after*: the first second after the fault from which five in a row answer nine in ten of their calls;
- *back after*: the first second after the fault from which 99 % of the calls of every further 5 s succeed;
- *in fault*, *after*, *both*: share of the calls begun then that succeeded;
- *goodput*: successes in the fault ÷ what the server can answer in it;
- *p99*: of calls that succeeded.

${text}
`
}

const seconds = (/** @type {number} */ ms) => `${ms / 1000} s`

/** @param {Scenario} scenario */
function scenarioLines(scenario) {
  const { clients, workers, serviceMs, beforeMs, faultMs, afterMs } = scenario
  const rate = Math.round(callRateOf(scenario))
  const server = `The server has ${workers} workers of ${serviceMs} ms each (exponential), that is`
  const limits = `Attempt timeout ${seconds(scenario.attemptTimeoutMs)}, deadline ${seconds(scenario.timeoutMs)}.`
  const before = beforeMs === 0 ? 'The clients start without history in the fault' : `${seconds(beforeMs)} before`
  return [
    `${clients} client processes make ${rate} calls/s (load ${scenario.load}). ${server}`,
    `${Math.round(capacityOf(scenario))}/s, and a queue of ${queueLengthOf(scenario)}. ${limits}`,
    `${before}, ${seconds(faultMs)} ${faultName(scenario)}, ${seconds(afterMs)} after.`,
  ]
}

/** @param {Scenario} scenario */
function faultName(scenario) {
  const { fault, workers, burst } = scenario
  if (fault.kind === 'capacity') return `with ${workersInFault(scenario)} of ${workers} workers`
  return fault.kind === 'hang' ? 'hang' : `for a burst of ${burst} calls`
}

const FIGURE_HEAD = [
  'policy',
  '',
  'worst second',
  'mean',
  'answers after',
  'back after',
  'in fault',
  'after',
  'both',
  'goodput',
  'p99',
]

/** @param {Result} result */
function figureRows({ subject, real, simulated }) {
  return [figureRow(subject, 'real', real), figureRow(subject, 'simulated', simulated)]
}

/**
 * A figure that is not known leaves its cell empty.
 * @param {string} subject @param {string} kind @param {Figures | undefined} figures
 */
function figureRow(subject, kind, figures) {
  if (figures === undefined) return [subject, kind, ...FIGURE_HEAD.slice(2).map(() => '')]
  const { worst, mean, recoveryS, backS, during, after, success, goodput, p99Ms } = figures
  const delay = (/** @type {number | null} */ s) => (s === null ? 'never' : `${s} s`)
  return [
    subject,
    kind,
    worst === null ? '' : worst.toFixed(2),
    mean.toFixed(2),
    delay(recoveryS),
    backS === undefined ? '' : delay(backS),
    percent(during),
    percent(after),
    percent(success),
    goodput === null ? '' : percent(goodput),
    `${(p99Ms / 1000).toFixed(2)} s`,
  ]
}

/** @param {Result} result */
function serverRow({ subject, server: { served, inVain, refused, longestQueue } }) {
  return [subject, String(served), percent(inVain / served), String(refused), String(longestQueue)]
}

/** @param {Result} result */
function machineRow({ subject, machine: { own, others, idle, lateP99Ms, lateMaxMs } }) {
  return [
    subject,
    percent(own),
    percent(others),
    percent(idle),
    `${lateP99Ms.toFixed(0)} ms`,
    `${lateMaxMs.toFixed(0)} ms`,
  ]
}

/** @param {number} share */
const percent = (share) => `${(share * 100).toFixed(1)} %`

const LEVELS = '·▁▂▃▄▅▆▇█'
/** A longer chart has one character for each `COARSE_SECONDS`. */
const MAX_CHART_SECONDS = 100
const COARSE_SECONDS = 5

/** @param {readonly Result[]} results @param {Scenario} scenario */
function chartLines(results, scenario) {
  const step = callsEndMsOf(scenario) / 1000 > MAX_CHART_SECONDS ? COARSE_SECONDS : 1
  const note = step === 1 ? 'One character for each second.' : `One character for each ${step} s.`
  return [note, '', '```', ...results.flatMap((result) => chart(result, scenario, step)), '```']
}

/**
 * A line stands between before, fault and after.
 * @param {Result} result @param {Scenario} scenario @param {number} step seconds of one character
 */
function chart({ subject, seconds: { attempts, useful } }, scenario, step) {
  const usual = callRateOf(scenario) * step
  const marks = [scenario.beforeMs / 1000, faultEndMsOf(scenario) / 1000]
  const line = (/** @type {(second: number) => string} */ show) =>
    Array.from({ length: Math.ceil(callsEndMsOf(scenario) / 1000 / step) }, (_, column) => {
      const second = column * step
      return (marks.includes(second) ? '│' : '') + show(second)
    }).join('')
  const ratio = (/** @type {readonly number[]} */ counts, /** @type {number} */ second) =>
    sum(counts, second, second + step) / usual
  const times = (/** @type {number} */ second) => Math.min(9, Math.round(ratio(attempts, second)))
  const level = (/** @type {number} */ second) => Math.min(8, Math.round(ratio(useful, second) * 8))
  return [
    subject,
    `  attempts, × the usual calls  ${line((second) => String(times(second)))}`,
    `  answers, █ for all of them   ${line((second) => LEVELS[level(second)] ?? '')}`,
  ]
}

/** @param {string[][]} rows the first is the head */
function table(rows) {
  const [head = [], ...body] = rows
  const widths = head.map((_, column) => Math.max(3, ...rows.map((row) => (row[column] ?? '').length)))
  const isText = (/** @type {number} */ column) => column === 0 || (column === 1 && head[1] === '')
  const pad = (/** @type {string} */ cell, /** @type {number} */ column) => {
    const width = widths[column] ?? 0
    return isText(column) ? cell.padEnd(width) : cell.padStart(width)
  }
  const lineOf = (/** @type {string[]} */ cells) => `| ${cells.map((cell, column) => pad(cell, column)).join(' | ')} |`
  const rule = widths.map((width, column) => (isText(column) ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`))
  return [lineOf(head), `|${rule.join('|')}|`, ...body.map(lineOf)]
}
