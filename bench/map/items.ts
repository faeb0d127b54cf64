/**
 * Items that do next to nothing: as a map that the workflow package conducts, as durable tasks of the library, and in the
 * loop by hand. Imports the workflow package, and the library and the floor of the ledger's benchmarks.
 */
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { planFromDocument } from '../../packages/workflow/src/plan/plan-of.js'
import { startRun } from '../../packages/workflow/src/run/start-run.js'
import { loadReaders } from '../../packages/workflow/src/values/readers.js'
import { Floor } from '../ledger/floor.js'
import { Library } from '../ledger/library.js'
import type { Program } from '../ledger/program.js'

export const WAYS = ['map', 'library', 'floor'] as const
export type Way = (typeof WAYS)[number]

/** Of all items together; the bytes are those of the files when the store is closed. */
export interface Work {
  readonly seconds: number
  readonly cpuUs: number
  readonly ledgerBytes: number
  readonly stateBytes: number
}

export async function workItems(way: Way, directory: string, count: number, width: number): Promise<Work> {
  const file = path.join(directory, 'ledger')
  const state = path.join(directory, 'state')
  const startMs = performance.now()
  const before = process.cpuUsage()
  await (way === 'map' ? conduct({ directory, file, state, count, width }) : queue(way, file, count, width))
  const { user, system } = process.cpuUsage(before)
  return {
    seconds: (performance.now() - startMs) / 1000,
    cpuUs: user + system,
    ledgerBytes: bytesOf(directory) - bytesOf(state),
    stateBytes: bytesOf(state),
  }
}

interface MapWork {
  readonly directory: string
  readonly file: string
  readonly state: string
  readonly count: number
  readonly width: number
}

/** From the enumeration of the items to the run's end, with results. */
async function conduct({ directory, file, state, count, width }: MapWork): Promise<void> {
  writeFileSync(path.join(directory, 'nothing.mjs'), 'export default () => null\n')
  const map = { input: { range: [1, count] }, max_parallel: width, agent_template: [{ script: './nothing.mjs' }] }
  const document = { name: 'items', mode: 'mapreduce', map } as never
  const plan = planFromDocument(document, null, await loadReaders(() => false, JSON.stringify(document)))
  const end = await startRun(
    plan,
    { runId: 'items', cwd: directory, documentDir: directory, params: {} },
    { store: `sqlite:${file}`, stateDirectory: state, env: { PATH: process.env['PATH'] ?? '' } },
  )
  if (end.state !== 'succeeded') throw new Error(`The run ended ${end.state}`)
}

async function queue(way: 'library' | 'floor', file: string, count: number, width: number): Promise<void> {
  const program: Program = way === 'library' ? await Library.open(file, width) : await Floor.open(file)
  await program.queued(count, width, async (input) => input)
  await program.close()
}

/** Of a directory with all that is in it; 0 if there is none. */
function bytesOf(directory: string): number {
  const found = statSync(directory, { throwIfNoEntry: false })
  if (found === undefined) return 0
  if (!found.isDirectory()) return found.size
  return readdirSync(directory).reduce((sum, name) => sum + bytesOf(path.join(directory, name)), 0)
}
