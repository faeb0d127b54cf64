// @ts-check
/**
 * One replay: a server process, client processes, one policy, one scenario. Whatever happens, no process is left.
 * Imports the rig's parts.
 */
import { cpus } from 'node:os'
import { seedOf } from './chance.mjs'
import { Child } from './children.mjs'
import { callsEndMsOf } from './rig.mjs'
import { together } from './tally.mjs'

/** From the order to begin until everybody must have heard of it. */
const HEAD_START_MS = 300
/** Processes need time to start and to end, on a busy machine more. */
const GRACE_MS = 30_000

/**
 * @typedef {import('./child-side.mjs').Cost} Cost
 * @typedef {import('./tally.mjs').TallyReport & { cost: Cost }} ClientReport
 *
 * @typedef {object} Replay
 * @property {string} subject
 * @property {import('./tally.mjs').TallyReport} clients
 * @property {import('./server.mjs').ServerReport} server
 * @property {Machine} machine
 * @property {(number | undefined)[]} pids of processes that were started, all of which ended with code 0
 *
 * @typedef {object} Machine shares of all cores, over the whole replay
 * @property {number} own taken by the processes of the replay
 * @property {number} others taken by whatever else runs
 * @property {number} idle
 * @property {number} lateP99Ms of the event loops, the worst process
 * @property {number} lateMaxMs
 */

/**
 * @param {string} subject @param {import('./rig.mjs').Scenario} scenario @param {number} seed
 * @returns {Promise<Replay>}
 */
export async function replay(subject, scenario, seed) {
  /** @type {Child[]} */
  const children = []
  const start = (/** @type {string} */ program, /** @type {object} */ given) => {
    const child = new Child(program, given)
    children.push(child)
    return child
  }
  const limitMs = callsEndMsOf(scenario) + scenario.timeoutMs + GRACE_MS
  const limit = setTimeout(() => children.forEach((child) => child.kill(`Killed after ${limitMs} ms.`)), limitMs)
  try {
    return await run(subject, scenario, seed, start)
  } finally {
    clearTimeout(limit)
    for (const child of children) child.kill('Killed at the end of the replay.')
    await Promise.allSettled(children.map((child) => child.ended))
  }
}

/**
 * @param {string} subject @param {import('./rig.mjs').Scenario} scenario @param {number} seed
 * @param {(program: string, given: object) => Child} start
 * @returns {Promise<Replay>}
 */
async function run(subject, scenario, seed, start) {
  const server = start('server.mjs', { scenario, seed: seedOf(seed, scenario.clients) })
  const { port } = await server.hear('ready')
  const clients = Array.from({ length: scenario.clients }, (_, index) =>
    start('client.mjs', { scenario, subject, port, index, seed: seedOf(seed, index) }),
  )
  await Promise.all(clients.map((client) => client.hear('ready')))

  const machine = lookAtMachine()
  const reports = Promise.all(clients.map((client) => reportOf(client)))
  for (const child of [server, ...clients]) child.tell({ type: 'begin', atMs: Date.now() + HEAD_START_MS })
  // The server has nothing to do but to fail: it is asked for its end when the clients have theirs.
  const clientReports = /** @type {ClientReport[]} */ (await Promise.race([reports, endedEarly(server)]))
  await Promise.all(clients.map((client) => client.ended))

  const serverReported = reportOf(server)
  server.tell({ type: 'end' })
  const serverReport = /** @type {import('./server.mjs').ServerReport} */ (await serverReported)
  await server.ended
  return {
    subject,
    clients: together(clientReports),
    server: serverReport,
    machine: machine([serverReport.cost, ...clientReports.map((report) => report.cost)]),
    pids: [server, ...clients].map((child) => child.pid),
  }
}

/** @param {Child} child */
async function reportOf(child) {
  const { report } = await child.hear('report')
  return report
}

/** @param {Child} server @returns {Promise<never>} */
async function endedEarly(server) {
  await server.ended
  throw new Error('The server ended before its clients.')
}

/** Looks twice at how busy the cores are: now, and when the answer is called. */
function lookAtMachine() {
  const before = coreTimes()
  return (/** @type {readonly Cost[]} */ costs) => {
    const after = coreTimes()
    const totalMs = after.total - before.total
    const idle = (after.idle - before.idle) / totalMs
    const own = costs.reduce((sum, cost) => sum + cost.cpuMs, 0) / totalMs
    const worst = (/** @type {'lateP99Ms' | 'lateMaxMs'} */ field) => Math.max(...costs.map((cost) => cost[field]))
    return {
      own,
      others: Math.max(0, 1 - idle - own),
      idle,
      lateP99Ms: worst('lateP99Ms'),
      lateMaxMs: worst('lateMaxMs'),
    }
  }
}

function coreTimes() {
  const times = cpus().map((core) => core.times)
  const total = times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0)
  return { total, idle: times.reduce((sum, { idle }) => sum + idle, 0) }
}
