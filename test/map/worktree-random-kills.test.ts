/**
 * Maps in working trees that are killed or asked to stop at random moments; more with KILLS=200, others with SEED=2. Needs
 * a build.
 */
import { expect, test } from 'vitest'
import { killRuns } from '../workflow/random-kill-run.js'
import { KilledWorktrees } from './killed-worktrees.js'

const seed = Number(process.env['SEED'] ?? 1)
const kills = Number(process.env['KILLS'] ?? 8)

test.each([1, 4])(
  `over ${kills} kills nothing unmerged is lost and no item is merged twice, with batches of %d`,
  { timeout: 120_000 + kills * 10_000 },
  async (batch) => {
    const sums = await killRuns((own) => new KilledWorktrees(own, batch), { seed, kills, lanes: 2 })
    expect(sums.faults).toEqual([])
    expect(sums.kills).toBeGreaterThan(kills / 2)
  },
)
