/**
 * Points 16, 18, 19 and 20: workers and submitters are killed and cut off while jobs run; every job completes, and J1 to J5
 * hold. `KILLS=30 PARTITIONS=20 SEED=7` for more; `npm run crash:jobs` is the whole campaign.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { testDatabase } from '../postgres/shared-server.js'
import { runJobCampaign } from './campaign.js'
import { bundlePrograms } from './campaign-fleet.js'

const KILLS = Number(process.env['KILLS'] ?? 3)
const PARTITIONS = Number(process.env['PARTITIONS'] ?? 3)
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

it(`(20) jobs whose processes are killed and cut off lose and double nothing, seed ${SEED}`, {
  timeout: 240_000 + (KILLS + PARTITIONS) * 10_000,
}, async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'reprise-campaign-'))
  const [programs, database] = [await bundlePrograms(), await testDatabase()]
  try {
    const sizes = { kills: KILLS, partitions: PARTITIONS, seed: SEED }
    const tally = await runJobCampaign({ programs, url: database.url, directory, ...sizes })
    expect(tally.faults).toEqual([])
    expect(tally).toMatchObject({ lost: 0, doubled: 0 })
    expect(tally.killed).toBeGreaterThanOrEqual(KILLS)
    expect(tally.partitions).toBeGreaterThanOrEqual(PARTITIONS)
  } finally {
    for (const { remove } of Object.values(programs)) remove()
    await database.drop()
    rmSync(directory, { recursive: true, force: true })
  }
})
