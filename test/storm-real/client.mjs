// @ts-check
/**
 * A client process: calls at random times, and its part of the burst, through an executor of the library. Each attempt
 * is an HTTP request whose socket is destroyed when the attempt is aborted. Started by replay.mjs. Imports the built library, as a user would.
 */
import { Agent, get } from 'node:http'
import { createExecutor, timelineOf } from 'reprise'
import { seededRandom } from 'reprise/testing'
import { exponentialMs, seedOf } from './chance.mjs'
import { clockFrom, given, hear, letGo, measureCost, tell } from './child-side.mjs'
import { burstOfClient, callRateOf, callsEndMsOf } from './rig.mjs'
import { executorOptions } from './subjects.mjs'
import { Tally } from './tally.mjs'

/** @type {import('./rig.mjs').Scenario} */
const scenario = given.scenario
const agent = new Agent({ keepAlive: true })
const tally = new Tally(scenario)
const executor = createExecutor({
  ...executorOptions(given.subject, scenario),
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

/**
 * A timer may fire up to 1 ms early. The rest is then waited for, so that no call counts for the second before its own.
 * @param {number} atMs
 */
async function until(atMs) {
  for (let waitMs = atMs - nowMs(); waitMs > 0; waitMs = atMs - nowMs()) {
    await new Promise((resolve) => setTimeout(resolve, Math.ceil(waitMs)))
  }
}

/** Begins a call at each random time, whether or not earlier ones have ended; resolves when all have ended. */
async function makeCalls() {
  const arrivals = seededRandom(given.seed)
  const meanGapMs = (1000 * scenario.clients) / callRateOf(scenario)
  const endMs = callsEndMsOf(scenario)
  const open = []
  for (let atMs = exponentialMs(meanGapMs, arrivals); atMs < endMs; atMs += exponentialMs(meanGapMs, arrivals)) {
    await until(atMs)
    open.push(call())
  }
  await Promise.all(open)
}

async function makeBurst() {
  await until(scenario.beforeMs)
  await Promise.all(Array.from({ length: burstOfClient(scenario, given.index) }, () => call()))
}

const begins = hear('begin')
await tell({ type: 'ready' })
nowMs = clockFrom((await begins).atMs)
const costOfIt = measureCost()
await Promise.all([makeCalls(), makeBurst()])
agent.destroy()
await tell({ type: 'report', report: { ...tally.toReport(), cost: costOfIt() } })
letGo()
