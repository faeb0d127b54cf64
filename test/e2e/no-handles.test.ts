/**
 * Ten thousand calls in a process of its own: it ends by itself, at once, however long the timeouts of the calls would
 * have been. Runs on the sources, so it needs no build.
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const PROGRAM = fileURLToPath(new URL('./ten-thousand-calls.mjs', import.meta.url))
/** Far below the 60 s of the shortest timeout that may not keep the process. */
const MAX_LINGER_MS = 2000
const MAX_RUN_MS = 25_000

interface Report {
  readonly allowed: number
  readonly returned: number
  readonly unhandled: number
  readonly fulfilled: number
  readonly rejected: number
  readonly code: number
  readonly lingeredMs: number
}

async function run(...args: readonly string[]): Promise<{ code: number | null; report: Report; stderr: string }> {
  const child = spawn(process.execPath, ['--conditions=reprise-source', '--import', 'tsx', PROGRAM, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk) => (stdout += String(chunk)))
  child.stderr.on('data', (chunk) => (stderr += String(chunk)))
  const limit = setTimeout(() => child.kill('SIGKILL'), MAX_RUN_MS)
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  clearTimeout(limit)
  return { code, report: JSON.parse(stdout || '{}') as Report, stderr }
}

it.each([
  ['and leaves no handle, no grant and no unhandled rejection', []],
  ['also if operations never settle after their calls have', ['leave']],
])('a process that has made 10 000 calls ends by itself, %s', { timeout: 2 * MAX_RUN_MS }, async (_, args) => {
  const seed = String(Date.now() % 2 ** 31)
  const { code, report, stderr } = await run(seed, ...args)
  expect(stderr, `seed ${seed}`).toBe('')
  expect(code, `seed ${seed}`).toBe(0)
  expect(report, `seed ${seed}`).toMatchObject({ unhandled: 0, returned: report.allowed })
  expect(report.fulfilled + report.rejected).toBe(10_000)
  expect(report.allowed).toBeGreaterThan(1000)
  expect(report.rejected).toBeGreaterThan(100)
  expect(report.lingeredMs).toBeLessThan(MAX_LINGER_MS)
})
