/**
 * `npm run crash -- --postgres`: faults of a real PostgreSQL server, its network and its clients, and the promises checked.
 * `--kills 500` backends terminated, and in proportion all other faults; `--quick` is `--kills 20`; `--only KIND-N` plays
 * one fault run of a seed again. Exit code 1 if a promise was broken; then the journals are kept. Imports the campaign.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { bundleLoad } from '../crash/processes.js'
import { withSection } from '../crash/results-page.js'
import { goalsOf, PostgresCampaign } from './campaign.js'
import { figuresOf, HEADING, section } from './results.js'

export interface CampaignArguments {
  readonly seed: number
  /** Backends terminated. */
  readonly kills: number
  readonly only: string | undefined
  /** The page that the figures go to. */
  readonly page: URL | undefined
}

/** They wait more than they work. */
const LANES = 3

export async function runCampaign({ seed, kills, only, page }: CampaignArguments): Promise<void> {
  const directory = mkdtempSync(path.join(tmpdir(), 'reprise-crash-postgres-'))
  const startMs = performance.now()
  const program = await bundleLoad()
  let shown = 0
  let told = 0
  const onFaultRun = (tally: PostgresCampaign['tally']): void => {
    for (const fault of tally.faults.slice(told)) console.log(fault)
    told = tally.faults.length
    if (tally.faultRuns - shown < 10) return
    shown = tally.faultRuns
    const made = [...tally.byKind].map(([kind, count]) => `${kind} ${count}`).join(', ')
    console.log(`${tally.faultRuns} scenes (${made}), ${tally.faults.length} promises broken`)
  }
  const options = { program, directory, seed, goals: goalsOf(kills), lanes: LANES, onFaultRun }
  const campaign = new PostgresCampaign(only === undefined ? options : { ...options, only })
  const tally = await campaign.run().finally(() => program.remove())
  const seconds = (performance.now() - startMs) / 1000
  const command = `npm run crash -- --postgres --kills ${kills} --write`
  const run = { tally, seed, seconds, node: process.version, command }
  console.log(figuresOf(run))
  if (page !== undefined) writeFileSync(page, withSection(readFileSync(page, 'utf8'), HEADING, section(run)))
  if (tally.faults.length === 0) {
    rmSync(directory, { recursive: true })
  } else {
    console.log(`The journals are in ${directory}`)
    process.exitCode = 1
  }
}
