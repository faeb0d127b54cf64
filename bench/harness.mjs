/**
 * How things are measured: turns of many candidates in random order, CPU time of a batch, medians.
 * Runs inside a child process (see child.mjs); knows nothing of any library.
 */

/** @typedef {(n: number) => Promise<void>} Batch runs n calls */
/** @typedef {Record<string, Record<string, number>>} Figures candidate → column → value */
/** @typedef {(op: (...args: any[]) => any, signal?: AbortSignal) => Promise<unknown>} Call */

const AsyncFunction = /** @type {FunctionConstructor} */ ((async () => {}).constructor)
let stamps = 0

/** A turn of the event loop. */
export const turn = () => new Promise((resolve) => setImmediate(resolve))
/** @param {number} ms */
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** @param {readonly number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** @template T @param {readonly T[]} values */
export function shuffled(values) {
  const result = [...values]
  for (let i = result.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1))
    ;[result[i], result[j]] = [result[j], result[i]]
  }
  return result
}

/**
 * Each candidate gets a copy of the loop of its own, so that the engine's type feedback of one is not that of all:
 * the comment makes every copy a source of its own.
 * @param {string} body @returns {(...args: any[]) => Promise<void>}
 */
function stamp(body) {
  return /** @type {any} */ (new AsyncFunction('call', 'op', 'turn', 'n', `${body} // ${++stamps}`))
}

/**
 * One call after the other; every `perTurn` calls the event loop turns once.
 * @param {Call} call @param {(...args: any[]) => any} op @returns {Batch}
 */
export function sequential(call, op, perTurn = 100) {
  const run = stamp(`for (let i = 1; i <= n; i++) { await call(op); if (i % ${perTurn} === 0) await turn() }`)
  return (n) => run(call, op, turn, n)
}

/** Like `sequential` for calls that reject. @param {Call} call @param {(...args: any[]) => any} op @returns {Batch} */
export function rejecting(call, op, perTurn = 100) {
  const run = stamp(
    `for (let i = 1; i <= n; i++) { try { await call(op) } catch {} if (i % ${perTurn} === 0) await turn() }`,
  )
  return (n) => run(call, op, turn, n)
}

/** Like `sequential` with an operation made anew for each call. @param {Call} call @param {() => any} makeOp @returns {Batch} */
export function sequentialFresh(call, makeOp) {
  const run = stamp('for (let i = 1; i <= n; i++) await call(op())')
  return (n) => run(call, makeOp, turn, n)
}

/**
 * `width` calls at once, then the next `width`; an operation of its own for each call.
 * @param {Call} call @param {() => any} makeOp @returns {Batch}
 */
export function concurrent(call, makeOp, width = 100) {
  const run = stamp(`
    const all = new Array(${width})
    for (let i = 0; i < n; i += ${width}) {
      for (let j = 0; j < ${width}; j++) all[j] = call(op())
      for (let j = 0; j < ${width}; j++) await all[j]
      await turn()
    }`)
  return (n) => run(call, makeOp, turn, Math.ceil(n / width) * width)
}

/** Nanoseconds of CPU (all threads: collector and compiler too) or of wall time. */
const clocks = {
  cpu: () => {
    const { user, system } = process.cpuUsage()
    return (user + system) * 1000
  },
  wall: () => performance.now() * 1e6,
}

/** Time of one piece of work in ns. @param {() => Promise<unknown>} work @param {'cpu' | 'wall'} clock */
export async function timed(work, clock = 'cpu') {
  const start = clocks[clock]()
  await work()
  return clocks[clock]() - start
}

/**
 * How many calls fill a turn, found while warming up: twice as many until a batch is long enough.
 * @param {Batch} batch @param {number} wantedNs @param {number} step
 */
async function calibrate(batch, wantedNs, step) {
  let n = step
  for (;;) {
    const begin = clocks.wall()
    const used = await timed(() => batch(n))
    const wall = clocks.wall() - begin
    if (used >= wantedNs || wall >= 8 * wantedNs) {
      const longest = Math.max(used, wall / 8)
      return Math.max(step, Math.round((n * wantedNs) / longest / step) * step)
    }
    n *= 2
  }
}

/**
 * A cold candidate looks slow, would get few calls a turn and so stay cold: first time and calls enough for the compiler.
 * @param {Batch} batch @param {number} ms @param {number} step
 */
async function warmUp(batch, ms, step) {
  const start = performance.now()
  for (let calls = 0; ; calls += step) {
    const passed = performance.now() - start
    if (passed > 4 * ms || (passed > ms && calls >= 5000)) return
    await batch(step)
  }
}

/**
 * Every round gives each candidate one turn, in random order: a warm-up, then the measured batch. Nothing is collected
 * by force in between. Returns the median over rounds, in ns a call.
 * @param {Record<string, Batch>} batches
 * @param {{ quick: boolean, clock?: 'cpu' | 'wall', step?: number }} options
 * @returns {Promise<Record<string, number>>}
 */
export async function turns(batches, { quick, clock = 'cpu', step = 100 }) {
  const names = Object.keys(batches)
  const wantedNs = quick ? 8e6 : 25e6
  /** @type {Record<string, number>} */
  const sizes = {}
  /** @type {Record<string, number[]>} */
  const samples = {}
  for (const name of shuffled(names)) await warmUp(batches[name], quick ? 250 : 600, step)
  for (const name of shuffled(names)) {
    sizes[name] = await calibrate(batches[name], wantedNs, step)
    samples[name] = []
  }
  for (let round = 0; round < (quick ? 5 : 15); round++) {
    for (const name of shuffled(names)) {
      const n = sizes[name]
      await batches[name](Math.ceil(n / 4))
      samples[name].push((await timed(() => batches[name](n), clock)) / n)
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(samples[name])]))
}

/** The candidate of this process. @template T @param {Record<string, T>} candidates @param {string} name @returns {T} */
export function chosen(candidates, name) {
  if (!(name in candidates)) throw new Error(`No such candidate: ${name}`)
  return candidates[name]
}

/** Figures of one column. @param {string} name @param {Record<string, number>} values @returns {Figures} */
export function column(name, values, scale = 1) {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, { [name]: value * scale }]))
}

// ── operations ────────────────────────────────────────────────────────────────────────────────────

/** One error for all: what is measured is the library, not the making of stack traces. */
export const failure = new Error('unavailable')

/** An operation that succeeds. */
export const succeed = async () => 1
/** An operation that fails. */
export const fail = async () => {
  throw failure
}
/** Makes an operation that fails `times` times, then succeeds. @param {number} times */
export const failing = (times) => () => {
  let calls = 0
  return async () => {
    if (++calls <= times) throw failure
    return calls
  }
}
