/**
 * A first look: a call that recovers, one that a budget stops, a hedge that wins, and a breaker that opens, refuses and
 * recovers. The clock is virtual: seconds pass at once, and every run prints the same. Start it with `npm run example`.
 */
import { createExecutor, type Operation, tokenBucket } from 'reprise'
import { seededRandom, virtualClock } from 'reprise/testing'
import { drawTimeline, LEGEND } from './draw-timeline.js'

const clock = virtualClock()

const executor = createExecutor({
  clock,
  random: seededRandom(10),
  budgets: { retries: tokenBucket({ capacity: 3, refillPerSecond: 0.1, chargeFirstAttempt: false }) },
  policies: {
    'catalogue.read': {
      attempts: 4,
      initialDelay: '200ms',
      jitter: 'full',
      retryOn: ['network', '5xx'],
      budget: 'retries',
    },
    'search.query': { attempts: 2, hedge: { delay: '150ms' } },
    'mail.send': {
      attempts: 5,
      initialDelay: '100ms',
      jitter: 'none',
      breaker: { failureThreshold: 3, recoveryTimeout: '30s' },
    },
  },
})

/** An operation that ends in the given ways, one after the other: a number of ms to run, then a failure or not. */
function acting(...scenes: readonly (readonly [ms: number, failure?: string])[]): Operation<string> {
  return async ({ launch, signal }) => {
    const [ms, failure] = scenes[launch - 1] ?? [100]
    await clock.sleep(ms, signal)
    if (failure !== undefined) throw new Error(failure)
    return 'done'
  }
}

async function show(key: string, operation: Operation<string>): Promise<void> {
  const call = executor.inspect(key, operation)
  await clock.runAll()
  const { timeline } = await call
  console.log(drawTimeline(timeline))
}

console.log(LEGEND)

console.log('\nA call that recovers: two attempts fail, the third succeeds')
await show('catalogue.read', acting([120, 'read ECONNRESET'], [80, '503 Service Unavailable'], [100]))

console.log('\nA budget that says no: calls share three retries, and two are used up')
await show('catalogue.read', acting([90, '503 Service Unavailable'], [90, '503 Service Unavailable'], [90]))

console.log('\nA hedge that wins: the first answer is slow, so a second question is asked beside it')
await show('search.query', acting([900], [120]))

console.log('\nA breaker: three failures in a row open it')
await show(
  'mail.send',
  acting([50, 'connect ECONNREFUSED'], [50, 'connect ECONNREFUSED'], [50, 'connect ECONNREFUSED']),
)
console.log('\n… while it is open, calls are refused without an attempt')
await show('mail.send', acting([50]))
await clock.advance(30_000)
console.log('\n… after 30 seconds one attempt may try: it succeeds and closes the breaker')
await show('mail.send', acting([50]))
