/** Real processes with a mixed load, killed with SIGKILL at random moments, until all tasks have ended. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { seededRandom } from 'reprise/testing'
import { openSqlite } from '../../packages/reprise/src/sqlite/open-sqlite.js'
import { faultsOf, type Start } from './history.js'

const TASKS = 60
const ATTEMPTS = 4
const directory = mkdtempSync(path.join(tmpdir(), 'reprise-crash-'))
afterAll(() => rmSync(directory, { recursive: true }))

function startLoad(file: string, log: string, seed: number): ChildProcess {
  const program = fileURLToPath(new URL('load.ts', import.meta.url))
  const args = ['--conditions=reprise-source', '--import', 'tsx', program, file, log, String(TASKS), String(seed)]
  return spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
}

/** Lets it run for a while once it is ready, then kills it; true if it ended by itself first. */
async function runFor(child: ChildProcess, ms: number): Promise<boolean> {
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  const ready = new Promise<void>((resolve) => child.once('message', () => resolve()))
  await Promise.race([ready, ended])
  const timer = setTimeout(() => child.kill('SIGKILL'), ms)
  const code = await ended
  clearTimeout(timer)
  if (code !== null && code !== 0) throw new Error(`The load ended with code ${code}`)
  return code === 0
}

function startsIn(log: string): Start[] {
  if (!existsSync(log)) return []
  const lines = readFileSync(log, 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => {
    const { task, attempt, execution } = JSON.parse(line) as { task: number; attempt: number; execution: number }
    return { task: `t${task}`, attempt, execution }
  })
}

describe('a process killed at any moment', () => {
  it.each([1, 2])(
    'goes on exactly there: seed %s',
    async (seed) => {
      const file = path.join(directory, `${seed}.db`)
      const log = path.join(directory, `${seed}.log`)
      const random = seededRandom(seed)
      let kills = 0
      while (!(await runFor(startLoad(file, log, seed), kills < 6 ? 5 + random() * 120 : 60_000))) kills++
      const ledger = await openSqlite(file, { clock: Date.now })
      const starts = startsIn(log)
      const faults = await faultsOf(ledger, 'work', starts, { attempts: ATTEMPTS, finished: true })
      const tasks = await ledger.list({ run: 'work' })
      await ledger.close()
      expect(faults).toEqual([])
      expect(tasks).toHaveLength(TASKS)
      expect(kills).toBeGreaterThan(0)
      console.log(`seed ${seed}: ${kills} kills, ${starts.length} starts`)
    },
    120_000,
  )
})
