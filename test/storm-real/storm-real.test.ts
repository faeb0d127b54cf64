/**
 * A real storm in short: processes, sockets, a hang. It shows only what a busy machine cannot change: who floods a
 * server that hangs, who does not, and that everything ends by itself. `npm run storm:real` measures the rest.
 * Needs the built library.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { type Replay, replay } from './replay.mjs'
import { SHORT } from './rig.mjs'

const LAST_SECONDS = 3
const hangFrom = SHORT.beforeMs / 1000
const hangTo = hangFrom + SHORT.hangMs / 1000
const end = hangTo + SHORT.afterMs / 1000

function sum(seconds: readonly number[], from: number, to: number): number {
  return seconds.slice(from, to).reduce((total, count) => total + count, 0)
}

function amplification({ clients: { seconds } }: Replay): number {
  return sum(seconds.attempts, hangFrom, hangTo) / sum(seconds.calls, hangFrom, hangTo)
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('a server that hangs, and clients in processes of their own', () => {
  const seed = Date.now() % 2 ** 31
  let recommended: Replay
  let exponential: Replay

  beforeAll(async () => {
    // Every process ends by itself with code 0, or this rejects with what it said.
    ;[recommended, exponential] = await Promise.all([
      replay('recommended', SHORT, seed),
      replay('exponential-5', SHORT, seed),
    ])
  }, 120_000)

  it('the recommended settings add no load to the hang, five attempts multiply it', () => {
    expect(amplification(recommended), `seed ${seed}`).toBeLessThan(1.3)
    expect(amplification(exponential), `seed ${seed}`).toBeGreaterThan(2)
  })

  it('the recommended settings answer again after it', () => {
    const { calls, succeeded } = recommended.clients.seconds
    const share = sum(succeeded, end - LAST_SECONDS, end) / sum(calls, end - LAST_SECONDS, end)
    expect(share, `seed ${seed}`).toBeGreaterThanOrEqual(0.8)
  })

  it('no process is left', () => {
    const pids = [...recommended.pids, ...exponential.pids]
    expect(pids).toHaveLength(2 * (SHORT.clients + 1))
    expect(pids.filter((pid) => pid !== undefined && isRunning(pid))).toEqual([])
  })
})
