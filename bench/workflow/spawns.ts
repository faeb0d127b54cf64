/**
 * What the process runner adds to a process: a bare spawn and the runner in turns, one process at a time. Imports the
 * runner.
 */
import { spawn, type StdioOptions } from 'node:child_process'
import { tmpdir } from 'node:os'
import { runCommand } from '../../packages/workflow/src/process/run-command.js'
import { median, shuffled } from '../ledger/statistics.js'

/** Microseconds from before the spawn until it has ended; medians. */
export interface SpawnCosts {
  readonly ignored: number
  readonly piped: number
  readonly runner: number
}

const env = { PATH: process.env['PATH'] ?? '' }
const cwd = tmpdir()

export async function measureSpawns(count: number): Promise<SpawnCosts> {
  const { signal } = new AbortController()
  const ways = {
    ignored: () => bare('ignore', 'exit'),
    piped: () => bare(['ignore', 'pipe', 'pipe'], 'close'),
    runner: async () => {
      const end = await runCommand({
        argv: ['true'],
        env,
        cwd,
        tag: 'bench',
        signal,
        graceMs: 1000,
        keepStdoutBytes: 0,
        onOutput: () => undefined,
      })
      if (end.exitCode !== 0) throw new Error(`true ended with ${end.exitCode}`)
    },
  }
  const names = Object.keys(ways) as (keyof typeof ways)[]
  const times: Record<keyof typeof ways, number[]> = { ignored: [], piped: [], runner: [] }
  for (let round = -20; round < count; round++) {
    for (const name of shuffled(names)) {
      const startMs = performance.now()
      await ways[name]()
      if (round >= 0) times[name].push((performance.now() - startMs) * 1000)
    }
  }
  return { ignored: median(times.ignored), piped: median(times.piped), runner: median(times.runner) }
}

function bare(stdio: StdioOptions, until: 'exit' | 'close'): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('true', { stdio, env, cwd })
    child.stdout?.resume()
    child.stderr?.resume()
    child.once('error', reject)
    child.once(until, () => resolve())
  })
}
