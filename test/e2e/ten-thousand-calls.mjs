/**
 * Makes ten thousand random calls on the clock of the process and then has nothing left to do. Prints one line of JSON.
 * Run by no-handles.test.ts with the seed as its argument; `leave` as a second argument ends with calls that are over
 * but whose operations are not.
 */
import { concurrencyBudget, createExecutor, tokenBucket } from 'reprise'
import { seededRandom } from 'reprise/testing'

const CALLS = 10_000
const AT_ONCE = 200
const random = seededRandom(Number(process.argv[2]))
/** @param {number} low @param {number} high */
const whole = (low, high) => low + Math.floor(random() * (high - low + 1))
const chance = (/** @type {number} */ percent) => random() * 100 < percent
/** @param {number} ms @returns {Promise<void>} */
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

const counts = { allowed: 0, returned: 0, unhandled: 0, fulfilled: 0, rejected: 0 }
process.on('unhandledRejection', () => void counts.unhandled++)

/** @param {import('reprise').Budget} budget @returns {import('reprise').Budget} */
const counted = (budget) => ({
  allowAttempt: (request) => {
    const decision = budget.allowAttempt(request)
    if (!decision.allowed) return decision
    counts.allowed++
    const release = (/** @type {import('reprise').AttemptOutcome} */ outcome) => {
      counts.returned++
      decision.release?.(outcome)
    }
    return { ...decision, release }
  },
})

const executor = createExecutor({
  budgets: {
    places: counted(concurrencyBudget({ max: 100 })),
    tokens: counted(tokenBucket({ capacity: 500, refillPerSecond: 50_000 })),
  },
  policies: {
    plain: { initialDelay: 0 },
    waiting: { attempts: 4, initialDelay: 1, maxDelay: 3, jitter: 'full' },
    timed: { attempts: 2, initialDelay: 1, attemptTimeout: '60s', timeout: '1h' },
    short: { attempts: 2, initialDelay: 1, attemptTimeout: 2, budget: 'places' },
    hedged: {
      attempts: 2,
      initialDelay: 1,
      hedge: { delay: 1, maxHedges: 2, budget: 'tokens' },
      attemptTimeout: '60s',
    },
    lateHedge: { attempts: 1, hedge: { delay: '60s' } },
    gated: {
      attempts: 3,
      initialDelay: 1,
      budget: 'tokens',
      breaker: { failureThreshold: 20, recoveryTimeout: '60s' },
    },
  },
})
const KEYS = ['plain', 'waiting', 'timed', 'short', 'hedged', 'lateHedge', 'gated']

/** @param {import('reprise').AttemptContext} context */
async function operation(context) {
  const kind = whole(0, 9)
  if (kind === 0) throw new Error('at once')
  if (kind === 1) await sleep(whole(0, 4))
  if (kind === 2) {
    await sleep(whole(0, 2))
    throw new Error('later')
  }
  if (kind === 3) {
    await new Promise((_resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('nobody aborted')), 3)
      context.signal.addEventListener('abort', () => {
        clearTimeout(timer)
        reject(context.signal.reason)
      })
    })
  }
  return 'done'
}

async function call() {
  const controller = chance(30) ? new AbortController() : undefined
  if (controller !== undefined && chance(50)) setTimeout(() => controller.abort(new Error('aborted')), whole(0, 3))
  const key = KEYS[whole(0, KEYS.length - 1)] ?? 'plain'
  try {
    await executor.run(key, operation, controller && { signal: controller.signal })
    counts.fulfilled++
  } catch {
    counts.rejected++
  }
}

for (let done = 0; done < CALLS; done += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, call))
await sleep(20)

if (process.argv[3] === 'leave') {
  // Over for their callers, while operations without a handle of their own never settle.
  const never = () => new Promise(() => undefined)
  const signal = AbortSignal.timeout(5)
  const options = { signal, policy: { attempts: 2, attemptTimeout: '60s', timeout: '1h', hedge: { delay: '60s' } } }
  await Promise.allSettled([
    executor.run('left', never, options),
    executor.run('left', never, { policy: { attempts: 1, attemptTimeout: 5 } }),
    executor.run('left', never, { policy: { attempts: 1, timeout: 5 } }),
    executor.run('left', ({ kind }) => (kind === 'hedge' ? 'first' : never()), {
      policy: { attempts: 1, attemptTimeout: '60s', hedge: { delay: 1 } },
    }),
    sleep(10),
  ])
}

const overAt = performance.now()
process.on('exit', (code) => {
  console.log(JSON.stringify({ ...counts, code, lingeredMs: performance.now() - overAt }))
})
