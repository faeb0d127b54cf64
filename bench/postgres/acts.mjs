/**
 * What a process of a contender may be asked to do, the same for floor, library and peers. Answers are printed as JSON, or
 * sent where the parent has to wait for something. Imports the measuring loop.
 */
import { openSync, writeSync } from 'node:fs'
import { isAble, takeTurn, WORKLOADS } from './turn.mjs'

/**
 * @typedef {object} Serving
 * @property {(begin: (index: number) => void, width: number) => Promise<void>} [serve] works on what comes until the process ends
 * @property {(count: number) => Promise<void>} [wait] records tasks that wait for an hour, and one that is due
 * @property {() => Promise<unknown>} [step] one durable step
 */

/**
 * Where to work, and what to do there. A peer takes of it what it needs.
 * @typedef {object} Ask
 * @property {string} act
 * @property {string} url a database of its own
 * @property {number} [width]
 * @property {number} [count]
 * @property {string} [workload]
 * @property {number} [seconds]
 * @property {string} [log]
 * @property {boolean} [waiting]
 * @property {boolean} [queue]
 * @property {number} [killAt] the start of the job that kills its process
 */

/**
 * @typedef {object} Contender
 * @property {(ask: Ask) => Promise<import('./turn.mjs').Program & Serving>} open
 * @property {(ask: Ask) => Promise<() => Promise<number>>} [counter] asks how many jobs are done
 */

const say = (/** @type {object} */ answer) => console.log(JSON.stringify(answer))
const never = () => new Promise(() => undefined)

/** @type {Record<string, (contender: Contender, ask: Ask) => Promise<unknown>>} */
const ACTS = {
  async turn(contender, ask) {
    const workload = WORKLOADS[ask.workload ?? '']
    if (workload === undefined) throw new Error(`No workload ${ask.workload}`)
    const program = await contender.open({ ...ask, width: workload.width })
    say(isAble(program, workload) ? await takeTurn(program, workload, ask.seconds ?? 1) : { lacking: true })
  },
  async fill(contender, ask) {
    const program = await contender.open(ask)
    const act = ask.waiting ? program.wait : program.record
    if (act === undefined) return say({ lacking: true })
    await act.call(program, ask.count ?? 0)
  },
  /** Every start of a job is a line in the log. */
  async serve(contender, ask) {
    const lines = openSync(ask.log ?? '', 'a')
    const program = await contender.open({ ...ask, queue: true })
    let starts = 0
    const begin = (/** @type {number} */ i) => {
      writeSync(lines, `${i}\n`)
      if (++starts === ask.killAt) process.kill(process.pid, 'SIGKILL')
    }
    await program.serve?.(begin, ask.width ?? 100)
    await never()
  },
  /** From the start of the process until the first due task runs. */
  async first(contender, ask) {
    const program = await contender.open(ask)
    program.serve?.(() => {
      say({ firstMs: performance.now(), rssMb: process.memoryUsage.rss() / 1e6 })
      process.exit(0)
    }, 50)
    await never()
  },
  /** How many are done, again and again. */
  async watch(contender, ask) {
    const count = await contender.counter?.(ask)
    for (;;) {
      process.send?.((await count?.()) ?? 0)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  },
  async start(contender, ask) {
    await (await contender.open(ask)).step?.()
  },
}

/** Ends the process: pools, pollers and servers may outlive their close. @param {Contender} contender @param {string} [argument] */
export async function perform(contender, argument = '{}') {
  /** @type {Ask} */
  const ask = JSON.parse(argument)
  const act = ACTS[ask.act]
  if (act === undefined) throw new Error(`No such act: ${ask.act}`)
  await act(contender, ask)
  process.exit(0)
}
