/**
 * The clock of the machine is set, by hours and days, under processes that wait: libfaketime gives a real process another
 * wall clock and leaves it its monotonic one.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openSqlite } from '../../packages/reprise/src/sqlite/open-sqlite.js'
import { bundleProgram, FaultFixture, waitFor } from './rig.js'
import type { Said } from './timed.js'

const HOUR = 3_600_000
/** As libfaketime writes them, and in milliseconds. */
const JUMPS = [
  ['-2h', -2 * HOUR],
  ['+3d', 72 * HOUR],
] as const

const library = findLibrary()
let bundled: Awaited<ReturnType<typeof bundleProgram>>
beforeAll(async () => void (bundled = await bundleProgram('timed')))
afterAll(() => bundled.remove())

let fixture: FaultFixture
let processes: ChildProcess[]
beforeEach(() => {
  fixture = new FaultFixture()
  processes = []
})
afterEach(() => {
  for (const child of processes) child.kill('SIGKILL')
  fixture.remove()
})

function findLibrary(): string | undefined {
  const roots = ['/usr/lib', '/usr/lib64', '/usr/local/lib', '/opt/homebrew/lib'].filter(existsSync)
  const places = roots.flatMap((root) => [root, ...readdirSync(root).map((name) => path.join(root, name))])
  const files = places.map((place) => path.join(place, 'faketime', 'libfaketime.so.1'))
  return files.find((file) => existsSync(file) && isMoving(file))
}

/** Whether it does what it promises to the Node that runs here. */
function isMoving(file: string): boolean {
  try {
    const env = { ...process.env, LD_PRELOAD: file, FAKETIME: '-2h', FAKETIME_DONT_FAKE_MONOTONIC: '1' }
    const said = execFileSync(process.execPath, ['-p', 'Date.now()'], { env, encoding: 'utf8' })
    return Number(said) < Date.now() - HOUR
  } catch {
    return false
  }
}

function itMoves(name: string, test: () => Promise<void>): void {
  const title = library === undefined ? `${name} (skipped: needs libfaketime)` : name
  it.skipIf(library === undefined)(title, { timeout: 60_000 }, test)
}

interface Timed {
  readonly child: ChildProcess
  readonly said: Said[]
  /** Sets its clock, while it runs. */
  set(offset: string): void
  /** The n-th time that it said so. */
  heard(what: Said['what'], count?: number): Promise<Said>
}

let clocks = 0

/** A process whose clock differs from ours by `offset`. */
function startTimed(mode: 'wait' | 'limit' | 'hold', delayMs: number, offset = '+0', id = 'a'): Timed {
  const clock = path.join(fixture.directory, `clock-${clocks++}`)
  writeFileSync(clock, offset)
  const env = {
    ...process.env,
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: clock,
    FAKETIME_NO_CACHE: '1',
    // Two spellings, by version.
    DONT_FAKE_MONOTONIC: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  }
  const args = [bundled.program, fixture.file, mode, String(delayMs), id]
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  processes.push(child)
  const said: Said[] = []
  child.on('message', (message) => said.push(message as Said))
  const find = (what: Said['what'], count: number): Said | undefined =>
    said.filter((one) => one.what === what)[count - 1]
  return {
    child,
    said,
    set: (value) => writeFileSync(clock, value),
    heard: async (what, count = 1) => {
      await waitFor(() => find(what, count) !== undefined, `${what} ${count}`)
      return find(what, count) as Said
    },
  }
}

async function kill({ child }: Timed): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await gone
}

/** Whether the wall clock of the process jumped between the two, so that the test tested something. */
function expectJump(before: Said, after: Said, jumpMs: number): void {
  const moved = after.wallMs - before.wallMs - (after.monotonicMs - before.monotonicMs)
  expect(Math.abs(moved - jumpMs)).toBeLessThan(HOUR / 2)
}

describe.each(JUMPS)('a jump of %s within a process', (offset, jumpMs) => {
  itMoves('neither shortens nor loses a wait', async () => {
    const one = startTimed('wait', 1200)
    await one.heard('waiting')
    one.set(offset)
    const [first, second] = [await one.heard('attempt'), await one.heard('attempt', 2)]
    expect(second.monotonicMs - first.monotonicMs).toBeGreaterThanOrEqual(1200)
    expectJump(first, second, jumpMs)
    await one.heard('ended')
  })

  itMoves('neither shortens nor loses a time limit', async () => {
    const one = startTimed('limit', 1200)
    const first = await one.heard('attempt')
    one.set(offset)
    const ended = await one.heard('ended')
    expect(ended.monotonicMs - first.monotonicMs).toBeGreaterThanOrEqual(1199)
    expectJump(first, ended, jumpMs)
  })
})

describe('between processes', () => {
  itMoves('a clock set back by 2 h does not make a wait longer than it was', async () => {
    const first = startTimed('wait', 3000)
    await first.heard('waiting')
    await kill(first)
    const next = startTimed('wait', 3000, '-2h')
    // Else it is not heard: two hours are more than anybody waits here.
    expect(await next.heard('attempt')).toMatchObject({ attempt: 2, execution: 1 })
    await next.heard('ended')
  })

  itMoves('a clock set forward by 3 d ends a wait at once', async () => {
    const first = startTimed('wait', 300_000)
    await first.heard('waiting')
    await kill(first)
    const next = startTimed('wait', 300_000, '+3d')
    expect(await next.heard('attempt')).toMatchObject({ attempt: 2, execution: 1 })
    await next.heard('ended')
  })

  for (const [offset] of JUMPS) {
    itMoves(`an attempt that was lost is run again after a jump of ${offset}`, async () => {
      const first = startTimed('hold', 10)
      await first.heard('attempt')
      await kill(first)
      const next = startTimed('hold', 10, offset)
      expect(await next.heard('attempt')).toMatchObject({ attempt: 1, execution: 2 })
      next.child.send('go on')
      await next.heard('ended')
      const ledger = await openSqlite(fixture.file)
      const rows = await ledger.attempts({ scopeKind: 'task', scope: 't', id: 'a' })
      expect(rows.map(({ execution, outcome }) => [execution, outcome])).toEqual([
        [1, 'interrupted'],
        [2, 'success'],
      ])
      await ledger.close()
    })
  }
})

/** Waits until every process has said several times that it lives, and has looked for those that do not. */
async function looksAround(times: number): Promise<void> {
  const ledger = await openSqlite(fixture.file)
  const seen = new Map<string, Set<string>>()
  let known: readonly string[] = []
  const isOver = (): boolean => known.length === 2 && known.every((id) => (seen.get(id)?.size ?? 0) > times)
  const note = async (): Promise<void> => {
    const owners = await ledger.owners()
    known = owners.map(({ id }) => id)
    for (const owner of owners) seen.set(owner.id, (seen.get(owner.id) ?? new Set()).add(JSON.stringify(owner)))
  }
  const look = setInterval(() => void note(), 20)
  try {
    await waitFor(isOver, 'both renew their leases')
  } finally {
    clearInterval(look)
    await ledger.close()
  }
}

/** Both tasks run, each once, by whichever process had a free slot first. */
async function expectTwo(first: Timed, second: Timed): Promise<void> {
  const executions = (): unknown[] =>
    [...first.said, ...second.said].filter(({ what }) => what === 'attempt').map(({ execution }) => execution)
  await waitFor(() => executions().length >= 2, 'both tasks run')
  await looksAround(3)
  expect(executions()).toEqual([1, 1])
}

describe('processes that live', () => {
  for (const [offset] of JUMPS) {
    const name = `do not rob each other when a jump of ${offset} is between their starts`
    const test = async (): Promise<void> => {
      const first = startTimed('hold', 10)
      await first.heard('attempt')
      const second = startTimed('hold', 10, offset, 'b')
      await expectTwo(first, second)
      for (const one of [first, second]) {
        one.child.send('go on')
        await one.heard('ended')
      }
    }
    itMoves(name, test)
  }

  itMoves('leave each other alone where the clock does not jump', async () => {
    const [first, second] = [startTimed('hold', 10), startTimed('hold', 10, '+0', 'b')]
    await expectTwo(first, second)
  })
})
