/** Disks that are full, fail or refuse, and files that somebody touched: real processes, real faults. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { canBeOtherUser, isRoot, OTHER_USER } from './other-user.js'
import { bundleProgram, type Ended, FaultFixture, start, waitFor, works } from './rig.js'

const TASKS = 60
let bundled: Awaited<ReturnType<typeof bundleProgram>>
beforeAll(async () => void (bundled = await bundleProgram('work')))
afterAll(() => bundled.remove())

let fixture: FaultFixture
beforeEach(() => void (fixture = new FaultFixture()))
afterEach(() => fixture.remove())

const command = (size = 10, tasks = TASKS): string[] => {
  const numbers = [String(tasks), String(size)]
  return [process.execPath, bundled.program, fixture.file, fixture.logs, ...numbers]
}
const run = (size?: number): Promise<Ended> => start(command(size)).ended

/** Runs the test, or skips it and says what it would need. */
function itWhere(possible: boolean, need: string, name: string, test: () => Promise<void>): void {
  it.skipIf(!possible)(possible ? name : `${name} (skipped: needs ${need})`, { timeout: 60_000 }, test)
}

/** The process stopped because of its ledger, and said which, and what to do. */
function expectStop({ code, said }: Ended, problem: string, cure: RegExp): void {
  expect([code, said]).toEqual([74, expect.stringContaining('LedgerError')])
  const error = JSON.parse(said) as { problem: string; message: string }
  expect(error.message).toContain(fixture.file)
  expect(error.message).toMatch(cure)
  expect(error.problem).toBe(problem)
}

/** What was acknowledged is there; the next process brings everything to its end. */
async function expectRecovery(size?: number): Promise<void> {
  expect(await fixture.faults(false)).toEqual([])
  const { code, said } = await run(size)
  expect([code, said]).toEqual([0, ''])
  expect(await fixture.faults(true, TASKS)).toEqual([])
}

describe('a disk that is full', () => {
  const canMount = isRoot && works('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'none', '/tmp'])

  const full = async (kib: number): Promise<void> => {
    const disk = path.join(fixture.directory, 'disk')
    mkdirSync(disk)
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kib}k`, 'none', disk])
    try {
      fixture.file = path.join(disk, 'ledger.db')
      expectStop(await run(8000), 'unusable', /disk is full: make room, then start again/)
      execFileSync('mount', ['-o', 'remount,size=64m', disk])
      await expectRecovery(8000)
    } finally {
      // Lazily: the driver of the checks may keep a file open until its statements are collected.
      execFileSync('umount', ['-l', disk])
    }
  }

  for (const kib of [256, 333, 480]) {
    const name = `stops the process, and it goes on once there is room: ${kib} KiB`
    itWhere(canMount, 'the right to mount', name, () => full(kib))
  }
})

describe('a disk that cannot sync', () => {
  const canTrace = works('strace', ['-qq', '-o', '/dev/null', '-e', 'trace=fsync', 'true'])

  /** The trace of a process whose n-th sync fails; of one file, if it is named. */
  async function traced(n: number, file?: string): Promise<{ ended: Ended; lines: string[] }> {
    const trace = path.join(fixture.directory, 'trace')
    const fault = ['-e', `inject=fsync,fdatasync:error=EIO:when=${n}`]
    const calls = ['-e', 'trace=fsync,fdatasync,pwrite64,ftruncate', ...(file === undefined ? [] : ['-P', file])]
    const { ended } = start(['strace', '-f', '-qq', '-y', '-o', trace, ...calls, ...fault, ...command()])
    const end = await ended
    const lines = whole(readFileSync(trace, 'utf8').split('\n'))
    return { ended: end, lines: lines.filter((line) => line.includes(`<${fixture.directory}`)) }
  }

  /** A call that another thread's interrupted is told in two lines. */
  function whole(lines: readonly string[]): string[] {
    const begun = new Map<string | undefined, string>()
    return lines.flatMap((line) => {
      const thread = line.split(' ')[0]
      const [, beginning] = /^(.*) <unfinished \.\.\.>$/.exec(line) ?? []
      if (beginning !== undefined) begun.set(thread, beginning)
      const [, end] = /<\.\.\. \w+ resumed>(.*)$/.exec(line) ?? []
      return beginning !== undefined ? [] : end === undefined ? line : `${begun.get(thread)}${end}`
    })
  }

  function renew(): void {
    fixture.remove()
    fixture = new FaultFixture()
  }

  const isOn = (line: string, suffix: string): boolean => line.includes(`<${fixture.file}${suffix}>`)

  async function failing(n: number, file?: string): Promise<string> {
    const { ended, lines } = await traced(n, file)
    expectStop(ended, 'unusable', /check the disk/)
    const at = lines.findIndex((line) => line.includes('(INJECTED)'))
    const failed = lines[at] ?? ''
    expect(failed).toContain('EIO')
    // Not even by closing it.
    const after = lines.slice(at + 1).filter((line) => isOn(line, '') || isOn(line, '-wal'))
    expect(after).toEqual([])
    await expectRecovery()
    return failed
  }

  // The first eleven are of the opening.
  for (const n of [13, 20, 35]) {
    const name = `stops the process at a commit, and nothing more is written or synced: sync ${n}`
    itWhere(canTrace, 'strace', name, async () => {
      expect(isOn(await failing(n), '-wal')).toBe(true)
    })
  }

  itWhere(canTrace, 'strace', 'stops the process at a checkpoint, and nothing more is written or synced', async () => {
    // The first two syncs of the database itself are of the opening; SQLite's own checkpoints keep quiet about the third.
    expect(isOn(await failing(3, fixture.file), '')).toBe(true)
  })

  itWhere(canTrace, 'strace', 'stops the process as it opens, and leaves nothing that hinders the next', async () => {
    for (const n of [1, 2, 4, 5, 8, 9, 11]) {
      const { ended, lines } = await traced(n)
      const failed = lines.find((line) => line.includes('(INJECTED)')) ?? ''
      // SQLite does not mind a directory that cannot be synced.
      if (failed.includes(`<${fixture.directory}>`)) expect(ended).toEqual({ code: 0, said: '' })
      else expectStop(ended, 'unusable', /check the disk/)
      await expectRecovery()
      renew()
    }
  })
})

// Of root, the checkout must be one that another user may read.
describe.skipIf(isRoot && !canBeOtherUser)('a file that may not be written', () => {
  const withoutRights = (): Promise<Ended> => start(command(), isRoot ? { uid: OTHER_USER } : {}).ended

  async function begun(): Promise<void> {
    const first = start(command())
    await waitFor(() => fixture.acks.length > 5, 'a few tasks end')
    first.child.kill('SIGKILL')
    await first.ended
  }

  it('stops the process, and it goes on once it may', { timeout: 60_000 }, async () => {
    await begun()
    const files = [fixture.file, `${fixture.file}-wal`, `${fixture.file}-shm`].filter(existsSync)
    for (const file of files) chmodSync(file, 0o444)
    chmodSync(fixture.directory, 0o555)
    try {
      expectStop(await withoutRights(), 'unusable', /writable for this user|read and write in it/)
    } finally {
      chmodSync(fixture.directory, 0o755)
      for (const file of files) chmodSync(file, 0o644)
    }
    await expectRecovery()
  })

  it('is told so in a directory that may not be written', { timeout: 60_000 }, async () => {
    const directory = path.join(fixture.directory, 'closed')
    mkdirSync(directory, { mode: 0o555 })
    fixture.file = path.join(directory, 'ledger.db')
    expectStop(await withoutRights(), 'unusable', /read and write in it|directory/)
    chmodSync(directory, 0o755)
    if (isRoot) chownSync(directory, 0, 0)
    await expectRecovery()
  })

  it('is told so where there is no directory', async () => {
    fixture.file = path.join(fixture.directory, 'nowhere', 'ledger.db')
    expectStop(await run(), 'unusable', /directory/)
  })
})

describe('a damaged file', () => {
  const hash = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex')

  /** Half of the work, all of it in the file and nothing in the log. */
  async function half(): Promise<number> {
    const { code } = await start(command(2000, TASKS / 2)).ended
    expect(code).toBe(0)
    expect(existsSync(`${fixture.file}-wal`)).toBe(false)
    copyFileSync(fixture.file, `${fixture.file}.copy`)
    return statSync(fixture.file).size
  }

  function overwrite(from: number, bytes: Buffer): void {
    const handle = openSync(fixture.file, 'r+')
    writeSync(handle, bytes, 0, bytes.length, from)
    closeSync(handle)
  }

  /** Refused, and exactly as it was; with the copy in its place everything goes on. */
  async function refused(): Promise<void> {
    const before = hash(fixture.file)
    expectStop(await run(2000), 'corrupt', /restore a backup/)
    expect(hash(fixture.file)).toBe(before)
    for (const suffix of ['-wal', '-shm']) rmSync(`${fixture.file}${suffix}`, { force: true })
    renameSync(`${fixture.file}.copy`, fixture.file)
    await expectRecovery(2000)
  }

  it('is refused when its middle is overwritten', { timeout: 60_000 }, async () => {
    const size = await half()
    overwrite(4096 * 4, Buffer.alloc(size - 4096 * 8, 0xa5))
    await refused()
  })

  it('is refused when its header is overwritten', { timeout: 60_000 }, async () => {
    await half()
    overwrite(0, Buffer.alloc(100, 0xa5))
    await refused()
  })

  it.each([2, 3, 10])('is refused when it is cut to 1/%s', { timeout: 60_000 }, async (part) => {
    const size = await half()
    truncateSync(fixture.file, Math.floor(size / part))
    await refused()
  })

  it('is refused when it is none of ours', { timeout: 60_000 }, async () => {
    writeFileSync(fixture.file, 'Dear diary, today nothing was retried.\n'.repeat(100))
    const before = hash(fixture.file)
    expectStop(await run(), 'corrupt', /not a SQLite database/)
    expect(hash(fixture.file)).toBe(before)
    expect(existsSync(`${fixture.file}-wal`)).toBe(false)
  })
})

describe('a file that is taken away while in use', () => {
  /** Waits until some tasks have ended, does it, and waits for the end. */
  async function meanwhile(act: () => void): Promise<Ended> {
    const { ended } = start(command())
    await waitFor(() => fixture.acks.length > 5, 'a few tasks end')
    act()
    return ended
  }

  it('stops the process when it is the log, and nothing acknowledged is lost', { timeout: 60_000 }, async () => {
    const ended = await meanwhile(() => rmSync(`${fixture.file}-wal`))
    expectStop(ended, 'unusable', /-wal was removed or replaced while in use/)
    rmSync(`${fixture.file}-shm`, { force: true })
    await expectRecovery()
  })

  it('stops the process when it is the database, and it goes on once it is back', { timeout: 60_000 }, async () => {
    const ended = await meanwhile(() => renameSync(fixture.file, `${fixture.file}.away`))
    expectStop(ended, 'unusable', /its file was removed or replaced while in use/)
    renameSync(`${fixture.file}.away`, fixture.file)
    await expectRecovery()
  })

  it('is a loss if nobody uses it, but what is left is whole', { timeout: 60_000 }, async () => {
    const first = start(command())
    await waitFor(() => fixture.acks.length > 5, 'a few tasks end')
    first.child.kill('SIGKILL')
    await first.ended
    rmSync(`${fixture.file}-wal`)
    // The checks see it: what was acknowledged is not there.
    expect(await fixture.faults(false)).not.toEqual([])
    expect(await run()).toEqual({ code: 0, said: '' })
  })
})
