/**
 * A few runs of every kind of fault of PostgreSQL, its network and its clients; many more are `npm run crash -- --postgres`.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleLoad, type Program } from '../crash/processes.js'
import { goalsOf, PostgresCampaign } from './campaign.js'
import { figuresOf } from './results.js'

const SEED = Number(process.env['SEED'] ?? 1)
const directory = mkdtempSync(path.join(tmpdir(), 'reprise-faults-postgres-'))
let program: Program
beforeAll(async () => {
  program = await bundleLoad()
})
afterAll(() => {
  program.remove()
  rmSync(directory, { recursive: true })
})

describe('durable tasks on PostgreSQL', () => {
  it('keep every promise whatever fails', { timeout: 300_000 }, async () => {
    const startMs = performance.now()
    const goals = goalsOf(5)
    const tally = await new PostgresCampaign({ program, directory, seed: SEED, goals, lanes: 3 }).run()
    const seconds = (performance.now() - startMs) / 1000
    console.log(`seed ${SEED}\n${figuresOf({ tally, seed: SEED, seconds, node: process.version, command: '' })}`)
    expect(tally.faults).toEqual([])
    for (const [kind, count] of Object.entries(goals))
      expect(tally.byKind.get(kind as keyof typeof goals) ?? 0, kind).toBeGreaterThanOrEqual(count)
    expect(tally.again).toBeGreaterThan(0)
  })
})
