/**
 * One turn of one contender: warm-up batches that grow until one is long enough for the clock, then a batch of about as
 * many seconds as asked. The same loop for floor, library and peers. Imports nothing.
 */

/**
 * What a contender can do; what it lacks it leaves out.
 * @typedef {object} Program
 * @property {(count: number, width: number) => Promise<void>} [steps] durable steps, `width` at a time
 * @property {(count: number, width: number) => Promise<void>} [failing] tasks that fail four times, without delay
 * @property {(count: number, width: number) => Promise<void>} [run] short tasks, each awaited by who asked for it
 * @property {(count: number) => Promise<void>} [record] tasks to be done later, in bulk
 * @property {(count: number, width: number) => Promise<void>} [work] does those that were recorded, until their outcomes are committed
 * @property {() => Promise<void>} close
 */

/**
 * @typedef {object} Workload
 * @property {string} title
 * @property {'steps' | 'failing' | 'run' | 'record' | 'work'} way
 * @property {number} width tasks at a time
 * @property {number} perTask what is counted, for each task
 */

/** @typedef {{ rate: number, cpuUs: number }} Turn per second on the clock; CPU time of the program each, not of its server */

/** @type {Readonly<Record<string, Workload>>} */
export const WORKLOADS = {
  sequential: { title: 'Durable steps, one after the other', way: 'steps', width: 1, perTask: 1 },
  fifty: { title: 'Durable steps, 50 at once', way: 'steps', width: 50, perTask: 1 },
  failing10: { title: 'Failing tasks, 3 retries, 10 at once: attempts', way: 'failing', width: 10, perTask: 4 },
  failing100: { title: 'Failing tasks, 3 retries, 100 at once: attempts', way: 'failing', width: 100, perTask: 4 },
  awaited: { title: 'Short tasks done, 100 at once, each awaited', way: 'run', width: 100, perTask: 1 },
  worked: { title: 'Short tasks done, 100 at once, recorded before', way: 'work', width: 100, perTask: 1 },
  enqueue: { title: 'Tasks recorded in bulk', way: 'record', width: 1000, perTask: 1 },
}

/** Whether the contender has what the workload needs. @param {Program} program @param {Workload} workload */
export function isAble(program, { way }) {
  return program[way] !== undefined && (way !== 'work' || program.record !== undefined)
}

/** What a batch needs to be there, and is not counted. @param {Program} program @param {Workload} workload @param {number} count */
export async function prepareBatch(program, { way }, count) {
  if (way === 'work') await program.record?.(count)
}

/** @param {Program} program @param {Workload} workload @param {number} count @returns {Promise<{ seconds: number, cpuUs: number }>} of all */
export async function takeBatch(program, { way, width }, count) {
  const before = process.cpuUsage()
  const startMs = performance.now()
  if (way === 'record') await program.record?.(count)
  else await program[way]?.(count, width)
  const seconds = (performance.now() - startMs) / 1000
  const { user, system } = process.cpuUsage(before)
  return { seconds, cpuUs: user + system }
}

/**
 * Runs batches until the code is compiled, and says how many make a batch of so many seconds.
 * @param {Program} program @param {Workload} workload @param {number} seconds @returns {Promise<number>}
 */
export async function warmUp(program, workload, seconds) {
  const { width, way } = workload
  const rounded = (/** @type {number} */ count) => Math.max(width, Math.round(count / width) * width)
  const batch = async (/** @type {number} */ size) => {
    await prepareBatch(program, workload, size)
    return (await takeBatch(program, workload, size)).seconds
  }
  const sized = (/** @type {number} */ count, /** @type {number} */ took) =>
    Math.min(rounded((count / took) * seconds), MOST)
  // A workflow of one step would be measured, and not its steps.
  let count = rounded(20 * (way === 'steps' ? width : 1))
  // A first batch compiles code and opens connections: its rate says little.
  let took = await batch(count)
  for (let grown = 0; grown === 0 || (grown < 6 && took < seconds / 4); grown++) {
    count = rounded(count * Math.min(4, Math.max(1, seconds / 3 / took)))
    took = await batch(count)
  }
  // One as long as the batch that counts: code that runs for the first time is up to twice as slow.
  count = sized(count, took)
  return sized(count, await batch(count))
}

/** In one batch. */
const MOST = 200_000

/** @param {Program} program @param {Workload} workload @param {number} seconds @returns {Promise<Turn>} */
export async function takeTurn(program, workload, seconds) {
  const count = await warmUp(program, workload, seconds)
  await prepareBatch(program, workload, count)
  const { seconds: took, cpuUs } = await takeBatch(program, workload, count)
  return { rate: (count * workload.perTask) / took, cpuUs: cpuUs / count / workload.perTask }
}

/** Runs `count` of them, `width` at a time. @param {number} count @param {number} width @param {(index: number) => Promise<unknown>} act */
export async function inLanes(count, width, act) {
  let next = 0
  const lane = async () => {
    while (next < count) await act(next++)
  }
  await Promise.all(Array.from({ length: Math.min(width, count) }, lane))
}
