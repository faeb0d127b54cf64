/**
 * A disk that fails under a run: it ends with 74 and names the path, nothing that was recorded is lost, and a resume goes
 * on once it is mended. Small file systems need the right to mount, faults of single calls need strace. Needs a build.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { bin, type Ended, CliFixture, until } from './cli-fixture.js'

const succeeds = (program: string, args: readonly string[]): boolean => spawnSync(program, args).status === 0
const isRoot = process.getuid?.() === 0
const canMount = isRoot && succeeds('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'none', '/tmp'])
const canTrace = succeeds('strace', ['-qq', '-f', '-o', '/dev/null', '-e', 'trace=fsync', 'true'])

let fixture: CliFixture
let mounted: string[] = []
afterEach(() => {
  for (const place of mounted) spawnSync('umount', ['-l', place])
  mounted = []
  fixture.remove()
})

/** Runs the test, or skips it and says what it would need. */
function testWhere(possible: boolean, need: string, name: string, body: () => Promise<void>): void {
  test.skipIf(!possible)(possible ? name : `${name} (skipped: needs ${need})`, { timeout: 60_000 }, body)
}

function mount(name: string, kib: number): string {
  mkdirSync(fixture.path(name), { recursive: true, mode: 0o700 })
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${kib}k,mode=700`, 'none', fixture.path(name)])
  mounted.push(fixture.path(name))
  return fixture.path(name)
}

const remount = (place: string, options: string): void =>
  void execFileSync('mount', ['-o', `remount,${options}`, place])

/** Ten steps that each note a line outside, and say more or less. */
const steps = (bytes: number): string =>
  Array.from(
    { length: 10 },
    (_, index) => `  - { id: s${index}, shell: "echo x >> s${index}; head -c ${bytes} /dev/zero | tr '\\\\0' y" }`,
  ).join('\n')

const counts = (): number[] => Array.from({ length: 10 }, (_, index) => fixture.count(`s${index}`))

function expectStopped({ code, stdout, stderr }: Ended, path: string, cure: RegExp): void {
  expect([code, stderr + stdout]).toEqual([74, expect.stringContaining(path)])
  expect(stderr).toMatch(cure)
}

/** Goes on; whatever was recorded as done is not done again, and at most the attempt in flight ran twice. */
async function expectGoingOn(store: readonly string[] = []): Promise<void> {
  const before = counts()
  const { code, stderr } = await fixture.reprise('resume', 'r1', ...store)
  expect([code, stderr]).toEqual([0, expect.any(String)])
  expect(counts().every((count) => count >= 1)).toBe(true)
  const again = counts().filter((count) => count > 1)
  expect(again.length).toBeLessThanOrEqual(1)
  expect(before.filter((count) => count > 0).length).toBeLessThan(10)
}

describe('a disk that is full', () => {
  for (const kib of [192, 300]) {
    testWhere(
      canMount,
      'the right to mount',
      `stops the run, and it goes on once there is room: ${kib} KiB`,
      async () => {
        fixture = new CliFixture(`steps:\n${steps(20_000)}`)
        const disk = mount('disk', kib)
        const store = ['--store', 'sqlite:disk/.reprise/ledger.db']
        const ended = await fixture.reprise('run', 'workflow.yaml', '--run-id', 'r1', ...store)
        expectStopped(ended, 'disk/.reprise', /disk is full/)
        expect(fixture.left()).toEqual([])
        remount(disk, 'size=32m')
        await expectGoingOn(store)
      },
    )
  }

  testWhere(
    canMount,
    'the right to mount',
    'for logs alone: the attempt is not failed, the ledger is whole',
    async () => {
      fixture = new CliFixture(`retry_defaults: { attempts: 3 }\nsteps:\n${steps(9000)}`)
      mkdirSync(fixture.path('.reprise'), { mode: 0o700 })
      const disk = mount('.reprise/runs', 64)
      const ended = await fixture.reprise('run', 'workflow.yaml', '--run-id', 'r1')
      expectStopped(ended, '.reprise/runs/r1/s', /make room, then resume the run/)
      expect(fixture.left()).toEqual([])
      const { state, steps: views, stopReason } = await fixture.show('r1')
      expect([state, stopReason]).toEqual(['interrupted', null])
      const stoppedAt = views.find(({ state: is }) => is !== 'succeeded')
      expect(stoppedAt?.history.map(({ attempt, outcome }) => [attempt, outcome])).toEqual([[1, 'interrupted']])
      remount(disk, 'size=4m')
      await expectGoingOn()
      expect((await fixture.show('r1')).steps.map(({ attempts, state: is }) => [attempts, is])).toEqual(
        views.map(() => [1, 'succeeded']),
      )
    },
  )
})

describe('a store that cannot be written', () => {
  const HELD = `
steps:
  - { id: s0, shell: echo x >> s0 }
  - { id: s1, shell: "echo x >> s1; until test -e go; do sleep 0.02; done" }
  - { id: s2, shell: echo x >> s2 }
`
  async function meanwhile(act: () => void, ...args: string[]): Promise<Ended> {
    const going = fixture.start('run', 'workflow.yaml', '--run-id', 'r1', ...args)
    await until(
      () => fixture.count('s1') === 1,
      () => `the second step; it said ${going.said()}`,
      going,
    )
    act()
    fixture.write('go', '')
    return going.ended
  }

  async function expectRest(...args: string[]): Promise<void> {
    expect((await fixture.reprise('resume', 'r1', ...args)).code).toBe(0)
    expect([fixture.count('s0'), fixture.count('s2')]).toEqual([1, 1])
    expect(fixture.count('s1')).toBeLessThanOrEqual(2)
  }

  testWhere(canMount, 'the right to mount', 'since its disk became read-only', async () => {
    fixture = new CliFixture(HELD)
    const disk = mount('disk', 4096)
    const store = ['--store', 'sqlite:disk/.reprise/ledger.db']
    const run = ['run', 'workflow.yaml', '--run-id', 'r1', ...store]
    await fixture.killed(run, () => fixture.count('s1') === 1)
    await fixture.isClean()
    fixture.write('go', '')
    remount(disk, 'ro')
    expectStopped(await fixture.reprise('resume', 'r1', ...store), 'disk/.reprise', /read-only|writable/)
    expect([fixture.count('s1'), fixture.count('s2')]).toEqual([1, 0])
    remount(disk, 'rw')
    await expectRest(...store)
  })

  testWhere(canMount, 'the right to mount', 'since its disk is read-only from the beginning', async () => {
    fixture = new CliFixture(HELD)
    const disk = mount('disk', 4096)
    remount(disk, 'ro')
    const store = ['--store', 'sqlite:disk/.reprise/ledger.db']
    expectStopped(await fixture.reprise('run', 'workflow.yaml', ...store), 'disk/.reprise', /read-only/)
    expect(fixture.count('s0')).toBe(0)
  })

  testWhere(!isRoot, 'a user who is not root', 'since its directory may not be', async () => {
    fixture = new CliFixture(HELD)
    chmodSync(fixture.directory, 0o500)
    const ended = await fixture.reprise('run', 'workflow.yaml')
    chmodSync(fixture.directory, 0o700)
    expectStopped(ended, '.reprise', /permission/)
  })

  test('since its file was taken away: it goes on once it is back', async () => {
    fixture = new CliFixture(HELD)
    const file = fixture.path('.reprise/ledger.db')
    expectStopped(await meanwhile(() => renameSync(file, `${file}.away`)), 'ledger.db', /removed or replaced/)
    expect(fixture.left()).toEqual([])
    renameSync(`${file}.away`, file)
    await expectRest()
  })
})

describe('a disk with an error', () => {
  /** The command line under strace, with a fault in calls on one file, or on any. */
  async function traced(calls: string, fault: string, file?: string): Promise<Ended> {
    const where = file === undefined ? [] : ['-P', fixture.path(file)]
    const inject = ['-e', `trace=${calls}`, '-e', `inject=${calls}:${fault}`]
    const command = [process.execPath, bin, 'run', 'workflow.yaml', '--run-id', 'r1']
    return fixture.startProgram('strace', ['-f', '-qq', '-o', fixture.path('trace'), ...inject, ...where, ...command])
      .ended
  }

  testWhere(canTrace, 'strace', 'in a sync of the ledger stops the run, and nothing is lost', async () => {
    fixture = new CliFixture(`steps:\n${steps(10)}`)
    const ended = await traced('fsync,fdatasync', 'error=EIO:when=25')
    expect(readFileSync(fixture.path('trace'), 'utf8')).toContain('INJECTED')
    expectStopped(ended, '.reprise/ledger.db', /check the disk/)
    await expectGoingOn()
  })

  testWhere(canTrace, 'strace', 'in a log stops the run, and the attempt runs again', async () => {
    fixture = new CliFixture(`steps:\n${steps(10)}`)
    const ended = await traced('write,writev,pwritev,pwrite64', 'error=EIO', '.reprise/runs/r1/s4/1.1.1.log')
    expectStopped(ended, '.reprise/runs/r1/s4/1.1.1.log', /check the disk, then resume/)
    expect(counts()).toEqual([1, 1, 1, 1, 1, 0, 0, 0, 0, 0])
    await expectGoingOn()
  })
})
