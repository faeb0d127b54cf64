// @ts-check
/**
 * A client process: calls by chance through an executor of the library, each attempt an HTTP request whose socket is
 * destroyed when the attempt is aborted. Started by replay.mjs. Imports the built library, as a user would.
 */
import { Agent, get } from 'node:http'
import { createExecutor, timelineOf } from 'reprise'
import { seededRandom } from 'reprise/testing'
import { exponentialMs, seedOf } from './chance.mjs'
import { clockFrom, given, hear, letGo, measureCost, tell } from './child-side.mjs'
import { callRateOf, callsEndMsOf } from './rig.mjs'
import { executorOptions } from './subjects.mjs'
import { Tally } from './tally.mjs'

/** @type {import('./rig.mjs').Rig} */
const rig = given.rig
const agent = new Agent({ keepAlive: true })
const tally = new Tally(rig)
const executor = createExecutor({
  ...executorOptions(given.subject, rig),
  random: seededRandom(seedOf(given.seed, 1000)),
})
/** @type {() => number} */
let nowMs

/** @param {AbortSignal} signal @returns {Promise<void>} */
function request(signal) {
  tally.attemptBegan(nowMs())
  return new Promise((resolve, reject) => {
    const asked = get({ host: '127.0.0.1', port: given.port, agent, signal }, (response) => {
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode === 200) resolve()
        else reject(Object.assign(new Error(`status ${response.statusCode}`), { status: response.statusCode }))
      })
      response.resume()
    })
    asked.on('error', reject)
  })
}

async function call() {
  const startMs = nowMs()
  tally.callBegan(startMs)
  try {
    await executor.run('storm', ({ signal }) => request(signal))
    tally.callSucceeded(startMs, nowMs())
  } catch (error) {
    tally.callFailed(timelineOf(error)?.stopReason ?? 'unknown')
  }
}

/** Begins the calls that chance has for this client, however long others take; ends when all have ended. */
async function makeCalls() {
  const arrivals = seededRandom(given.seed)
  const meanGapMs = (1000 * rig.clients) / callRateOf(rig)
  const endMs = callsEndMsOf(rig)
  const open = []
  for (let atMs = exponentialMs(meanGapMs, arrivals); atMs < endMs; atMs += exponentialMs(meanGapMs, arrivals)) {
    const waitMs = atMs - nowMs()
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    open.push(call())
  }
  await Promise.all(open)
}

const begins = hear('begin')
await tell({ type: 'ready' })
nowMs = clockFrom((await begins).atMs)
const costOfIt = measureCost()
await makeCalls()
agent.destroy()
await tell({ type: 'report', report: { ...tally.toReport(), cost: costOfIt() } })
letGo()
