// @ts-check
/**
 * The server process: HTTP on a port of the system's choice, answers as the worker pool has them, 503 when its queue is
 * full. A client that has gone away is served like any other. Started by replay.mjs. Imports chance of the built
 * library.
 */
import { createServer } from 'node:http'
import { seededRandom } from 'reprise/testing'
import { exponentialMs } from './chance.mjs'
import { clockFrom, given, hear, letGo, measureCost, tell } from './child-side.mjs'
import { faultEndMsOf, queueLengthOf, workersInFault } from './rig.mjs'
import { WorkerPool } from './worker-pool.mjs'

/**
 * @typedef {object} ServerReport
 * @property {number} served
 * @property {number} inVain served to clients that had gone away
 * @property {number} refused
 * @property {number} longestQueue
 * @property {import('./child-side.mjs').Cost} cost
 */

/** @type {import('./rig.mjs').Scenario} */
const scenario = given.scenario
const random = seededRandom(given.seed)
/** @type {WorkerPool | undefined} */
let pool
let inVain = 0

const server = createServer((_request, response) => {
  const accepted = pool?.submit(() => {
    if (response.destroyed) inVain++
    else response.end('done')
  })
  if (accepted) return
  response.statusCode = 503
  response.end('full')
})
// Only the pool decides how long a connection waits.
server.keepAliveTimeout = 600_000
server.requestTimeout = 0
server.headersTimeout = 0

// Node's default backlog of 511 would drop connections of a burst, and the kernel tries those again only after 1 s.
const listening = { port: 0, host: '127.0.0.1', backlog: 4096 }
await new Promise((resolve) => server.listen(listening, () => resolve(undefined)))
const begins = hear('begin')
const ends = hear('end')
const address = server.address()
await tell({ type: 'ready', port: typeof address === 'object' ? address?.port : undefined })

const nowMs = clockFrom((await begins).atMs)
const costOfIt = measureCost()
pool = new WorkerPool({
  workers: scenario.workers,
  workersInFault: workersInFault(scenario),
  queueLength: queueLengthOf(scenario),
  drawMs: () => exponentialMs(scenario.serviceMs, random),
  nowMs,
  faultFromMs: scenario.beforeMs,
  faultUntilMs: faultEndMsOf(scenario),
})

await ends
pool.close()
server.close()
server.closeAllConnections()
const { served, refused, longestQueue } = pool
await tell({ type: 'report', report: { served, inVain, refused, longestQueue, cost: costOfIt() } })
letGo()
