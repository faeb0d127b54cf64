/**
 * The state directory under the command line: what somebody has put in its place is refused with 74, the path and what to
 * do, and nothing is followed or written through. What is made is its owner's alone. Ids are names, and nothing leaves the
 * directory by one. Needs a build.
 */
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { repriseInProcess } from './cli-in-process.js'
import { bin, type Ended, CliFixture, until } from './cli-fixture.js'

let fixture: CliFixture
afterEach(() => fixture.remove())

const RUN = ['run', 'workflow.yaml', '--run-id', 'r1']
const WORK = 'steps: [{ id: work, shell: "echo x >> ran; echo said; test -e go" }]'
const isRoot = process.getuid?.() === 0

/** All that is there, with what is in it, links not followed. */
function listing(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => {
      const file = path.join(directory, name)
      const stats = lstatSync(file)
      return `${name} ${stats.mode.toString(8)} ${stats.isFile() ? readFileSync(file, 'latin1').slice(0, 2000) : ''}`
    })
}

function expectRefused({ code, stderr, stdout }: Ended, place: string): void {
  expect([code, stderr + stdout]).toEqual([74, expect.stringContaining(place)])
  expect(stderr).toMatch(/remove it|choose another/)
}

describe('something in place of', () => {
  const KINDS = [
    'link to a directory',
    'link to a file',
    'link to nowhere',
    'pipe',
    'file',
    'directory',
    'device',
  ] as const
  type Kind = (typeof KINDS)[number]

  /** Puts it there; what it leads to is in `outside`. */
  function plant(place: string, kind: Kind): void {
    const outside = fixture.path('outside')
    mkdirSync(path.join(outside, 'directory'), { recursive: true })
    writeFileSync(path.join(outside, 'file'), 'precious\n')
    mkdirSync(path.dirname(place), { recursive: true, mode: 0o700 })
    rmSync(place, { recursive: true, force: true })
    if (kind === 'link to a directory') symlinkSync(path.join(outside, 'directory'), place)
    else if (kind === 'link to a file') symlinkSync(path.join(outside, 'file'), place)
    else if (kind === 'link to nowhere') symlinkSync(path.join(outside, 'nowhere'), place)
    else if (kind === 'pipe') execFileSync('mkfifo', [place])
    else if (kind === 'file') writeFileSync(place, 'precious\n')
    else if (kind === 'directory') mkdirSync(place)
    else execFileSync('mknod', [place, 'c', '1', '3'])
  }

  /** Where, what, and whether that is found before anything is started. */
  const PLACES: readonly (readonly [place: string, wrong: readonly Kind[], isBefore: boolean])[] = [
    ['.reprise', KINDS.filter((kind) => kind !== 'directory'), true],
    ['.reprise/ledger.db', KINDS.filter((kind) => kind !== 'file'), true],
    ['.reprise/ledger.db-wal', ['link to a file', 'link to nowhere', 'pipe'], true],
    ['.reprise/runs', ['link to a directory', 'link to nowhere', 'device'], false],
    ['.reprise/runs/r1', ['link to a directory', 'file'], false],
    ['.reprise/runs/r1/work', ['link to a directory', 'pipe'], false],
    ['.reprise/runs/r1/work/1.1.1.log', ['link to a file', 'link to nowhere', 'pipe'], false],
    ['.reprise/runs/r1/work@1.1.1.group', ['link to a file', 'pipe'], false],
  ]

  for (const [place, wrong, isBefore] of PLACES) {
    test(`${place} is refused, and left as it is`, async () => {
      for (const kind of wrong.filter((one) => isRoot || one !== 'device')) {
        // Of one that has ended by then nobody notes the group.
        fixture = new CliFixture(place.endsWith('.group') ? WORK.replace('test -e go', 'exec sleep 60') : WORK)
        plant(fixture.path(place), kind)
        const outside = listing(fixture.path('outside'))
        const planted = lstatSync(fixture.path(place)).mode
        const run = ['run', fixture.path('workflow.yaml'), '--run-id', 'r1']
        expectRefused(isBefore ? await repriseInProcess(fixture, ...run) : await fixture.reprise(...run), place)
        // A log is opened when there is something to put into it; the command is ended then.
        if (!place.includes('work')) expect(fixture.count('ran'), kind).toBe(0)
        expect(listing(fixture.path('outside')), kind).toEqual(outside)
        expect(lstatSync(fixture.path(place)).mode, kind).toBe(planted)
        expect(fixture.left(), kind).toEqual([])
        fixture.remove()
      }
      fixture = new CliFixture()
    })
  }

  test('the ledger or its directory is refused to those who look as well', async () => {
    for (const [place, kind] of [
      ['.reprise', 'link to a directory'],
      ['.reprise/ledger.db', 'link to a file'],
      ['.reprise/ledger.db', 'pipe'],
    ] as const) {
      fixture = new CliFixture(WORK)
      plant(fixture.path(place), kind)
      if (place === '.reprise') writeFileSync(fixture.path('outside/directory/ledger.db'), '')
      const outside = listing(fixture.path('outside'))
      for (const command of [['ps'], ['show', 'r1'], ['events', 'r1'], ['resume', 'r1'], ['cancel', 'r1'], ['clean']])
        expectRefused(await repriseInProcess(fixture, ...command), place)
      expect(listing(fixture.path('outside'))).toEqual(outside)
      fixture.remove()
    }
    fixture = new CliFixture()
  })

  test('a log is refused to those who read it', async () => {
    fixture = new CliFixture(WORK)
    await fixture.reprise(...RUN)
    const log = fixture.path('.reprise/runs/r1/work/1.1.1.log')
    fixture.write('secret', 'of somebody else\n')
    rmSync(log)
    symlinkSync(fixture.path('secret'), log)
    const ended = await repriseInProcess(fixture, 'logs', 'r1')
    expectRefused(ended, '1.1.1.log')
    expect(ended.stdout).not.toContain('somebody')
  })

  test('a log goes on as soon as it is away: nothing was lost, nothing is counted', async () => {
    fixture = new CliFixture(WORK)
    plant(fixture.path('.reprise/runs/r1/work/1.1.1.log'), 'link to a file')
    expectRefused(await fixture.reprise(...RUN), '1.1.1.log')
    expect((await fixture.show('r1')).state).toBe('interrupted')
    rmSync(fixture.path('.reprise/runs/r1/work/1.1.1.log'))
    fixture.write('go', '')
    expect((await fixture.reprise('resume', 'r1')).code).toBe(0)
    expect((await fixture.show('r1')).steps[0]).toMatchObject({ state: 'succeeded', attempts: 1 })
  })
})

describe('what is made', () => {
  for (const mask of ['000', '022', '077']) {
    test(`is for its owner alone under umask ${mask}`, async () => {
      fixture = new CliFixture(`
steps:
  - { id: work, shell: "echo x >> ran; echo said" }
  - { id: more, shell: "echo x >> more; echo said; sleep 60" }
`)
      const command = `umask ${mask}; exec "$0" "$@"`
      const going = fixture.startProgram('sh', ['-c', command, process.execPath, bin, ...RUN])
      // While it runs: with the log of the ledger, and the note of a group.
      const parts = ['.gitignore', 'ledger.db', 'ledger.db-wal', 'ledger.db-shm', 'runs/r1/work/1.1.1.log']
      const last = ['runs/r1/more/1.1.1.log', 'runs/r1/more@1.1.1.group']
      await until(
        () => [...parts, ...last].every((name) => fixture.has(`.reprise/${name}`)),
        () => `everything to be there; it said ${going.said()}`,
        going,
      )
      const names = readdirSync(fixture.path('.reprise'), { recursive: true, encoding: 'utf8' })
      for (const name of ['', ...names]) {
        const { mode } = statSync(path.join(fixture.path('.reprise'), name))
        const isDirectory = (mode & 0o170000) === 0o040000
        expect([name, (mode & 0o777).toString(8)]).toEqual([name, isDirectory ? '700' : '600'])
      }
      going.child.kill('SIGKILL')
      await going.ended
    })
  }
})

test('a working directory that is gone is told as such', async () => {
  fixture = new CliFixture(WORK)
  mkdirSync(fixture.path('gone'))
  const command = 'cd gone; rmdir ../gone; exec "$0" "$@"'
  const { code, stderr } = await fixture.startProgram('sh', [
    '-c',
    command,
    process.execPath,
    bin,
    'run',
    fixture.path('workflow.yaml'),
  ]).ended
  expect([code, stderr]).toEqual([2, expect.stringContaining('the working directory does not exist any more')])
})

describe('an id', () => {
  const BAD = [
    '',
    '.',
    '..',
    '../x',
    '/x',
    'a/b',
    '.hidden',
    '-x',
    'a'.repeat(200),
    'a\u001b[31mb',
    'a\nb',
    'a\u202eb',
    'ä',
  ]

  test('of a run that cannot be one is wrong usage, and nothing is made', async () => {
    fixture = new CliFixture(WORK)
    for (const id of BAD) {
      const { code, stderr } = await repriseInProcess(fixture, 'run', fixture.path('workflow.yaml'), `--run-id=${id}`)
      expect([id, code, stderr]).toEqual([id, 2, expect.stringContaining('cannot be the id of a run')])
      // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
      expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
    }
    expect((await repriseInProcess(fixture, 'exec', '--durable', '../x', '--', 'true')).code).toBe(2)
    expect(readdirSync(fixture.directory)).toEqual(['workflow.yaml'])
  })

  test('that no run or step has is refused by every command, and nothing is made', async () => {
    fixture = new CliFixture(WORK)
    await fixture.reprise(...RUN)
    const before = listing(fixture.directory)
    const commands = (id: string): string[][] => [
      ['show', '--', id],
      ['show', '--', 'r1', id],
      ['logs', '--', id],
      ['logs', '--', 'r1', id],
      ['resume', '--', id],
      ['events', '--', id],
      ['watch', '--', id],
      ['cancel', '--', id],
      ['retry-now', '--', 'r1', id],
      ['resume', 'r1', `--done=${id}`],
    ]
    for (const id of ['../../../outside', 'a\u001b]0;evil\u0007b', 'x'.repeat(200)]) {
      for (const command of commands(id)) {
        const { code, stderr } = await repriseInProcess(fixture, ...command)
        expect([command, code, stderr]).toEqual([command, 4, expect.stringMatching(/no run|no step|needs no answer/)])
        expect(stderr).not.toContain('\u001b')
      }
    }
    // The commands ran in this process, which may have the ledger open still: its log is no new file of theirs.
    const names = (lines: readonly string[]): string[] =>
      lines.map((line) => line.replace(/ .*$/s, '')).filter((name) => !/\.db-(wal|shm)$/.test(name))
    expect(names(listing(fixture.directory))).toEqual(names(before))
  })

  test('of a step that cannot be one is a fault of the file; a name becomes one that can', async () => {
    fixture = new CliFixture()
    for (const id of BAD) {
      fixture.write('bad.json', JSON.stringify({ steps: [{ id, shell: 'echo x >> ran' }] }))
      expect([id, (await repriseInProcess(fixture, 'run', fixture.path('bad.json'))).code]).toEqual([id, 2])
    }
    const names = ['../../../evil', '/etc/passwd', '..', 'a\u001b]0;evil\u0007b', 'x'.repeat(300)]
    fixture.write(
      'good.json',
      JSON.stringify({ steps: names.map((name) => ({ name, shell: 'echo x >> ran; echo said' })) }),
    )
    const { code, stderr } = await fixture.reprise('run', 'good.json', '--run-id', 'r1')
    expect([code, stderr]).toEqual([0, expect.any(String)])
    expect(stderr).not.toContain('\u001b')
    expect(fixture.count('ran')).toBe(names.length)
    expect(readdirSync(fixture.path('.reprise/runs/r1'))).toHaveLength(names.length)
    expect(readdirSync(fixture.directory).toSorted()).toEqual(['.reprise', 'bad.json', 'good.json', 'ran'])
    expect(existsSync(path.join(fixture.directory, '../evil'))).toBe(false)
  })
})
