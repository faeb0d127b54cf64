/**
 * Runs vitest with the given arguments, and ends it if it does not end by itself once it has reported: `node
 * scripts/run-tests.mjs --project unit`. Exits as vitest would have.
 *
 * A worker thread that cannot be ended keeps vitest for ever after the last test, without a word: whoever waits for it
 * sees a run without an end although every test has passed. What kept it is printed.
 */
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** It closes servers and threads, which takes a second or two. */
const CLOSING_MS = 30_000

const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))
const child = spawn(process.execPath, [vitest, 'run', ...process.argv.slice(2)], {
  stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
})
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => child.kill(signal))

/** @type {number | undefined} */
let reported
child.on('message', (/** @type {{ code: number }} */ report) => {
  reported = report.code
  setTimeout(() => {
    console.error(
      `vitest has reported, and still runs ${CLOSING_MS / 1000} s later: it is killed. ${threadsOf(child.pid)}`,
    )
    child.kill('SIGKILL')
  }, CLOSING_MS).unref()
})
child.once('exit', (code, signal) => {
  const isKilled = signal === 'SIGKILL' && reported !== undefined
  process.exitCode = isKilled ? reported : (code ?? 1)
})

/**
 * What its threads wait for in the kernel beside events and other threads, where the system tells.
 * @param {number | undefined} pid
 */
function threadsOf(pid) {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    const waits = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/wchan`, 'utf8').trim())
    return `Its threads wait in: ${waits.filter((name) => !/^(0|do_epoll_wait|futex_.*)?$/.test(name)).join(', ')}`
  } catch {
    return ''
  }
}
