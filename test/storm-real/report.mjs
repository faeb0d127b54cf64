// @ts-check
/**
 * The results as text: a table beside the simulator's figures, a chart of every second, the goals. What is printed and
 * what RESULTS.md holds is the same. Imports the rig's parts.
 */
import { callRateOf, callsEndMsOf, capacityOf, queueLengthOf } from './rig.mjs'

/**
 * @typedef {import('./figures.mjs').Figures} Figures
 * @typedef {import('./rig.mjs').Rig} Rig
 * @typedef {import('./tally.mjs').Seconds} Seconds
 *
 * @typedef {object} Result
 * @property {string} subject
 * @property {Figures} real
 * @property {Figures} simulated
 * @property {Seconds} seconds
 * @property {Record<string, number>} stops
 * @property {import('./server.mjs').ServerReport} server
 * @property {import('./replay.mjs').Machine} machine
 *
 * @typedef {object} Data
 * @property {number} seed
 * @property {string} node
 * @property {Rig} rig
 * @property {Result[]} results
 * @property {import('./goals.mjs').Goal[]} goals
 */

/** @param {Data} data */
export function textOf({ seed, node, rig, results, goals }) {
  return [
    ...rigLines(rig, seed, node),
    '',
    ...table(results.flatMap(figureRows)),
    '',
    ...table([['the server', 'served', 'to nobody', 'refused', 'longest queue'], ...results.map(serverRow)]),
    '',
    ...table([['the machine', 'the rig', 'others', 'idle', 'timers late, p99', 'most'], ...results.map(machineRow)]),
    '',
    '```',
    ...results.flatMap((result) => chart(result, rig)),
    '```',
    '',
    ...goals.map(({ subject, goal, met }) => `- ${met ? '✓' : '✗'} ${subject}: ${goal}`),
  ].join('\n')
}

/** @param {string} text */
export function fileOf(text) {
  return `# A real storm

Written by \`npm run storm:real -- --write\`: real client processes, a real server process on loopback, a real hang. The
server serves whom it has accepted, though the client may have gone. Beside it, what \`reprise/simulate\` says of the
same numbers: means of 20 seeds, of recovery the median. Amplification is attempts ÷ calls in the hang; *back
after*: the first second from which five in a row answer nine in ten of their calls; p99 is of calls that succeeded.

${text}
`
}

/** @param {Rig} rig @param {number} seed @param {string} node */
function rigLines(rig, seed, node) {
  const { clients, workers, serviceMs } = rig
  const s = (/** @type {number} */ ms) => `${ms / 1000} s`
  const server = `The server has ${workers} workers of ${serviceMs} ms each (exponential), that is`
  const limits = `Attempt timeout ${s(rig.attemptTimeoutMs)}, deadline ${s(rig.timeoutMs)}.`
  return [
    `${clients} client processes make ${callRateOf(rig)} calls/s. ${server}`,
    `${capacityOf(rig)}/s, and a queue of ${queueLengthOf(rig)}. ${limits}`,
    `${s(rig.beforeMs)} before, ${s(rig.hangMs)} hang, ${s(rig.afterMs)} after. Node ${node}, seed ${seed}.`,
  ]
}

const FIGURE_HEAD = ['policy', '', 'worst second', 'mean', 'back after', 'success in hang', 'after', 'p99']

/** @param {Result} result @param {number} index */
function figureRows({ subject, real, simulated }, index) {
  const row = (/** @type {string} */ kind, /** @type {Figures} */ figures) => [
    subject,
    kind,
    figures.worst.toFixed(2),
    figures.mean.toFixed(2),
    figures.recoveryS === null ? 'never' : `${figures.recoveryS} s`,
    percent(figures.during),
    percent(figures.after),
    `${(figures.p99Ms / 1000).toFixed(2)} s`,
  ]
  const rows = [row('real', real), row('simulated', simulated)]
  return index === 0 ? [FIGURE_HEAD, ...rows] : rows
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

/** A character for every second, a line between before, hang and after. @param {Result} result @param {Rig} rig */
function chart({ subject, seconds }, rig) {
  const usual = callRateOf(rig)
  const marks = [rig.beforeMs / 1000, (rig.beforeMs + rig.hangMs) / 1000]
  const line = (/** @type {(second: number) => string} */ show) =>
    Array.from(
      { length: callsEndMsOf(rig) / 1000 },
      (_, second) => (marks.includes(second) ? '│' : '') + show(second),
    ).join('')
  const times = (/** @type {number} */ second) => Math.round((seconds.attempts[second] ?? 0) / usual)
  const level = (/** @type {number} */ second) => Math.min(8, Math.round(((seconds.useful[second] ?? 0) / usual) * 8))
  return [
    subject,
    `  attempts, × the usual calls  ${line((second) => String(Math.min(9, times(second))))}`,
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
