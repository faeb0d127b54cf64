/** Real processes with a mixed load, killed with SIGKILL at named points and random moments, until all tasks have ended. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Campaign } from './campaign.js'
import { bundleLoad, type Program } from './processes.js'
import { figuresOf } from './results-page.js'
import { Scenario } from './scenario.js'

const KILLS = 40
const SEED = Number(process.env['SEED'] ?? 1)
const directory = mkdtempSync(path.join(tmpdir(), 'reprise-crash-'))
let program: Program
beforeAll(async () => {
  program = await bundleLoad()
})
afterAll(() => {
  program.remove()
  rmSync(directory, { recursive: true })
})

describe('processes killed at any moment', () => {
  it(`keep every promise over ${KILLS} kills`, { timeout: 600_000 }, async () => {
    const startMs = performance.now()
    const options = { program, directory, seed: SEED, kills: KILLS, lanes: 3, namedKills: 6 }
    const tally = await new Campaign(options).run()
    const seconds = (performance.now() - startMs) / 1000
    console.log(`seed ${SEED}\n${figuresOf({ tally, seconds })}`)
    expect(tally.faults).toEqual([])
    expect(tally.kills).toBeGreaterThanOrEqual(KILLS)
    expect(tally.again).toBeGreaterThan(0)
    expect(tally.changes).toBeGreaterThan(0)
  })

  it('would be found out if they forgot their budgets', { timeout: 60_000 }, async () => {
    const scenario = new Scenario({ program, directory, name: 'forgetful', seed: SEED })
    for (let life = 0; life < 3; life++) {
      const point = { verb: 'transact', moment: 'after', nth: 25 } as const
      await scenario.start({ forgetsGates: true, point }).end
    }
    await scenario.start({ forgetsGates: true, calm: true }).end
    expect((await scenario.check()).faults.join('\n')).toMatch(
      /budget count: \d+ retries are recorded, and \d+ charged/,
    )
  })
})
