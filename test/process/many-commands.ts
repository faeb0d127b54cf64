/**
 * Runs 500 commands, ten at a time, waits until open files and children are as few as before, and prints how many there
 * were before and what it came to. With the argument `sockets` as on a system without pipes of our own.
 * Imports the process runner.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

if (process.argv[2] === 'sockets') Object.defineProperty(process, 'platform', { value: 'another' })
const { runCommand } = await import('../../packages/workflow/src/process/run-command.js')

const ROUNDS = 50
const AT_ONCE = 10

export interface Figures {
  readonly files: number
  readonly children: number
}

/** Before, and what it came to. */
async function runMany(): Promise<readonly [before: Figures, after: Figures]> {
  await runSome()
  const before = look()
  for (let round = 0; round < ROUNDS; round++) await runSome()
  let after = look()
  // Streams close a turn later; pipes are made ahead in the background.
  for (let tries = 0; tries < 200 && !isWithin(after, before); tries++) {
    await sleep(25)
    after = look()
  }
  return [before, after]
}

const isWithin = (after: Figures, before: Figures): boolean =>
  after.files <= before.files && after.children <= before.children

async function runSome(): Promise<void> {
  await Promise.all(
    Array.from({ length: AT_ONCE }, (_, index) =>
      runCommand({
        argv: index === 0 ? ['no-such-program'] : ['true'],
        env: { PATH: process.env['PATH'] ?? '' },
        cwd: '/',
        tag: `many-${process.pid}/${index}`,
        signal: new AbortController().signal,
        graceMs: 1000,
        keepStdoutBytes: 0,
        onOutput: () => undefined,
        ...(index % 2 === 0 && { stdin: 'some text' }),
      }),
    ),
  )
}

function look(): Figures {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return { files: readdirSync('/proc/self/fd').length, children: pids.filter(isChild).length }
}

/** Zombies included. */
function isChild(pid: string): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')')).split(' ')[2] === String(process.pid)
  } catch {
    return false
  }
}

process.stdout.write(JSON.stringify(await runMany()))
