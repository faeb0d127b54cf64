/**
 * A process whose clock is set: `timed FILE MODE DELAY_MS ID`, telling its parent what happens and when, by both of its
 * clocks. `wait`: a first attempt that fails, and a wait. `limit`: an attempt that runs into its time limit. `hold`: an
 * attempt that lasts until the parent says so. Imports sources.
 */
import { openDurable } from '../../packages/reprise/src/open/open-durable.js'

/** What the parent is told. */
export interface Said {
  readonly what: 'attempt' | 'waiting' | 'ended'
  readonly attempt?: number
  readonly execution?: number
  readonly monotonicMs: number
  readonly wallMs: number
}

const [file = '', mode = '', delayMs = '0', id = 'a'] = process.argv.slice(2)
const delay = `${delayMs}ms` as const
const lease = '1500ms'

function say(what: Said['what'], more: Partial<Said> = {}): void {
  process.send?.({ what, monotonicMs: performance.now(), wallMs: Date.now(), ...more } satisfies Said)
}

const told = new Promise<void>((resolve) => process.once('message', () => resolve()))
const durable = await openDurable(`sqlite:${file}`, { lease, synchronous: 'normal' })
const base = { backoff: 'fixed', initialDelay: delay, maxDelay: '1h', jitter: false } as const
const policies = {
  wait: { ...base, attempts: 2 },
  limit: { ...base, attempts: 1, attemptTimeout: delay },
  hold: { ...base, attempts: 1 },
} as const

const task = durable.task('t', policies[mode as keyof typeof policies], async (_input: null, context) => {
  const { attempt, execution } = context
  say('attempt', { attempt, execution })
  if (mode === 'wait' && attempt === 1) throw new Error('not yet')
  if (mode === 'limit') await new Promise(() => undefined)
  if (mode === 'hold') await told
  return 'done'
})

const watch = setInterval(() => void look().catch(() => undefined), 5)

async function look(): Promise<void> {
  const status = await task.status(id)
  if (status?.state !== 'waiting' || status.attempts === 0) return
  clearInterval(watch)
  say('waiting')
}

await durable.resume()
await task.run(null, { id }).catch(() => undefined)
say('ended')
clearInterval(watch)
await durable.close()
process.disconnect()
