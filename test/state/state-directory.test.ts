/** The state directory on a real disk: what it makes, and what it refuses. */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { StepPlace } from '../../packages/workflow/src/state/step-place.js'
import { StateDirectory } from '../../packages/workflow/src/state/state-directory.js'
import { StateError } from '../../packages/workflow/src/state/state-error.js'

const FIRST = { generation: 0, attempt: 1, execution: 1 }
const isRoot = process.getuid?.() === 0
const canMount = isRoot && spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'none', '/tmp']).status === 0
let base = ''
let place = ''
beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), 'reprise-state-'))
  place = path.join(base, 'project/.reprise')
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const modeOf = (file: string): string => (statSync(file).mode & 0o777).toString(8)
const inPlace = (...names: string[]): string => path.join(place, ...names)

async function write(
  state: StateDirectory,
  run: string,
  step: string,
  attempt = FIRST,
  text = 'said\n',
): Promise<string> {
  const log = state.openLog({ run, step }, attempt)
  try {
    await log.write('stdout', Buffer.from(text))
  } finally {
    await log.close()
  }
  return log.path
}

describe('a state directory', () => {
  it('is made for its owner alone, and git ignores it', async () => {
    const file = await write(StateDirectory.open(place), 'run-1', 'fetch')
    expect(file).toBe(inPlace('runs/run-1/fetch/0.1.1.log'))
    expect([modeOf(place), modeOf(inPlace('runs')), modeOf(path.dirname(file)), modeOf(file)]).toEqual([
      ...['700', '700', '700'],
      '600',
    ])
    expect(readFileSync(inPlace('.gitignore'), 'utf8')).toBe('*\n')
    expect(readFileSync(file, 'utf8')).toBe('said\n')
  })

  it('of one ledger of several is within another, which is looked at as well', async () => {
    const one = inPlace('postgres-0123456789ab')
    const file = await write(StateDirectory.open(one), 'run-1', 'fetch')
    expect(file).toBe(path.join(one, 'runs/run-1/fetch/0.1.1.log'))
    expect([modeOf(place), modeOf(one), modeOf(path.dirname(file)), modeOf(file)]).toEqual(['700', '700', '700', '600'])
    expect(readFileSync(inPlace('.gitignore'), 'utf8')).toBe('*\n')
    expect(StateDirectory.at(place).logsOf('run-1')).toEqual([])
    StateDirectory.at(place).removeRun('run-1')
    expect(StateDirectory.at(one).logsOf('run-1')).toHaveLength(1)
    chmodSync(place, 0o770)
    for (const use of [
      () => StateDirectory.open(one),
      () => StateDirectory.at(one).logsOf('run-1'),
      () => StateDirectory.at(one).removeRun('run-1'),
    ])
      expect(use).toThrow(/\.reprise can be written by others/)
    expect(existsSync(file)).toBe(true)
  })

  it('is opened again as it is', async () => {
    await write(StateDirectory.open(place), 'run-1', 'fetch')
    writeFileSync(inPlace('.gitignore'), 'mine\n')
    const file = await write(StateDirectory.open(place), 'run-1', 'fetch', FIRST, 'more\n')
    expect(readFileSync(file, 'utf8')).toBe('said\nmore\n')
    expect(readFileSync(inPlace('.gitignore'), 'utf8')).toBe('mine\n')
  })

  it('takes a directory that is there, and leaves what is in it', () => {
    const there = path.join(base, 'there')
    mkdirSync(there, { mode: 0o755 })
    StateDirectory.open(there)
    expect([modeOf(there), existsSync(path.join(there, '.gitignore'))]).toEqual(['755', false])
  })

  it('makes nothing before it is needed', async () => {
    const state = StateDirectory.open(place)
    await state.openLog({ run: 'run-1', step: 'fetch' }, FIRST).close()
    expect(existsSync(inPlace('runs'))).toBe(false)
  })

  it('lists logs in the order of steps and attempts', async () => {
    const state = StateDirectory.open(place)
    for (const [step, attempt] of [
      ['b', { generation: 0, attempt: 10, execution: 1 }],
      ['b', { generation: 0, attempt: 2, execution: 1 }],
      ['b', { generation: 1, attempt: 1, execution: 1 }],
      ['b', { generation: 0, attempt: 2, execution: 2 }],
      ['a', FIRST],
    ] as const) {
      await write(state, 'run-1', step, attempt)
    }
    await write(state, 'run-2', 'a')
    writeFileSync(inPlace('runs/run-1/b/notes.txt'), '')
    writeFileSync(inPlace('runs/run-1/.DS_Store'), '')
    const names = (step?: string): string[] =>
      state.logsOf('run-1', step).map((log) => path.relative(inPlace('runs/run-1'), log.path))
    const b = ['b/0.2.1.log', 'b/0.2.2.log', 'b/0.10.1.log', 'b/1.1.1.log']
    expect(names()).toEqual(['a/0.1.1.log', ...b])
    expect(names('b')).toEqual(b)
    expect(names('c')).toEqual([])
    expect(state.logsOf('none')).toEqual([])
    expect(state.logsOf('run-2')).toEqual([
      { run: 'run-2', step: 'a', ...FIRST, path: inPlace('runs/run-2/a/0.1.1.log'), bytes: 5 },
    ])
  })

  it('lists notes of groups', () => {
    const state = StateDirectory.open(place)
    const file = state.groupFile({ run: 'run-1', step: 'a' }, FIRST)
    writeFileSync(file, '')
    expect(state.groupFilesOf('run-1')).toEqual([file])
    writeFileSync(state.groupFile({ run: 'run-1', step: 'a.b' }, FIRST), '')
    expect(state.groupFilesOf('run-1')).toHaveLength(2)
    expect(state.groupFilesOf('run-1', { run: 'run-1', step: 'a' })).toEqual([file])
    expect(state.groupFilesOf('run-1', { run: 'run-1', step: 'b' })).toEqual([])
    expect(state.logsOf('run-1')).toEqual([])
    // Who says nothing needs no directory.
    expect(existsSync(inPlace('runs/run-1/a'))).toBe(false)
  })

  it('keeps the files of an item of a map apart from those of others', async () => {
    const state = StateDirectory.open(place)
    const at = (id: string): StepPlace => ({ run: 'run-1', item: { map: 'resize', id }, step: 'convert' })
    const items = ['0000001.a', '0000001.a.b', '0000002.a']
    for (const id of items) {
      const log = state.openLog(at(id), FIRST)
      await log.write('stdout', Buffer.from(id))
      await log.close()
      writeFileSync(state.groupFile(at(id), FIRST), '')
    }
    const logs = state.logsOfItem('run-1', { map: 'resize', id: '0000001.a' })
    expect(logs).toEqual([
      { run: 'run-1', step: 'resize', ...FIRST, path: state.logFile(at('0000001.a'), FIRST), bytes: 9 },
    ])
    expect(path.relative(inPlace('runs/run-1/resize'), logs[0]?.path ?? '')).toMatch(
      /^[0-9a-f]{2}.0000001\.a@0\.1\.1\.log$/,
    )
    expect(state.groupFilesOf('run-1', at('0000001.a'))).toEqual([state.groupFile(at('0000001.a'), FIRST)])
    expect(state.groupFilesOf('run-1')).toHaveLength(3)
    // They are no logs of the step that the map is.
    expect(state.logsOf('run-1')).toEqual([])
    expect(() => state.openLog(at('../a'), FIRST)).toThrow(RangeError)
  })

  it('spreads the files of items over 256 directories', () => {
    const state = StateDirectory.at(place)
    const directories = new Set(
      Array.from({ length: 10_000 }, (_, position) => {
        const item = { map: 'resize', id: `${String(position).padStart(7, '0')}.x` }
        return path.dirname(state.logFile({ run: 'run-1', item, step: 'convert' }, FIRST))
      }),
    )
    expect(directories.size).toBe(256)
  })

  it('removes a run, and nothing that a link in it leads to', async () => {
    const state = StateDirectory.open(place)
    await write(state, 'run-1', 'a')
    await write(state, 'run-2', 'a')
    const precious = path.join(base, 'precious')
    mkdirSync(precious)
    writeFileSync(path.join(precious, 'file'), '')
    symlinkSync(precious, inPlace('runs/run-1/link'))
    state.removeRun('run-1')
    state.removeRun('run-1')
    expect([existsSync(inPlace('runs/run-1')), existsSync(path.join(precious, 'file'))]).toEqual([false, true])
    expect(state.logsOf('run-2')).toHaveLength(1)
    // What was made before is made again.
    await write(state, 'run-1', 'a')
    expect(state.logsOf('run-1')).toHaveLength(1)
  })

  it('comes back when somebody has removed it', async () => {
    const state = StateDirectory.open(place)
    await write(state, 'run-1', 'a')
    rmSync(place, { recursive: true })
    await write(state, 'run-1', 'a')
    rmSync(place, { recursive: true })
    expect(existsSync(path.dirname(state.groupFile({ run: 'run-1', step: 'a' }, FIRST)))).toBe(true)
  })
})

describe('what is refused', () => {
  const refused = (act: () => unknown): [string, string] => {
    try {
      act()
    } catch (error) {
      if (error instanceof StateError)
        return [path.relative(base, error.path), error.message.slice(error.path.length + 1)]
      throw error
    }
    throw new Error('It was not refused')
  }
  const writing = async (...where: Parameters<typeof write>): Promise<[string, string]> => {
    const outcome = await write(...where).then(
      () => undefined,
      (error: unknown) => error,
    )
    return refused(() => {
      if (outcome !== undefined) throw outcome
    })
  }

  it('is a link, a file or a pipe in the place of the directory', () => {
    mkdirSync(path.dirname(place))
    symlinkSync(base, place)
    expect(refused(() => StateDirectory.open(place))).toEqual([
      'project/.reprise',
      'is a symbolic link, not a directory: remove it',
    ])
    rmSync(place)
    symlinkSync(path.join(base, 'nowhere'), place)
    expect(refused(() => StateDirectory.open(place))[1]).toMatch(/symbolic link/)
    rmSync(place)
    writeFileSync(place, '')
    expect(refused(() => StateDirectory.open(place))[1]).toMatch(/^is a file, not a directory/)
    rmSync(place)
    execFileSync('mkfifo', [place])
    expect(refused(() => StateDirectory.open(place))[1]).toMatch(/^is a pipe, not a directory/)
  })

  it('is a directory that others can write to', () => {
    mkdirSync(place, { recursive: true })
    chmodSync(place, 0o777)
    expect(refused(() => StateDirectory.open(place))[1]).toMatch(/^can be written by others: .*chmod go-w/)
  })

  it.each(['runs', 'runs/run-1', 'runs/run-1/a'])(
    'is a link in the place of %s, for whoever writes, lists or removes',
    async (name) => {
      const state = StateDirectory.open(place)
      const elsewhere = path.join(base, 'elsewhere')
      const inside = path.join(elsewhere, path.relative(name, 'runs/run-1/a'))
      mkdirSync(inside, { recursive: true })
      writeFileSync(path.join(inside, '0.1.1.log'), 'precious')
      mkdirSync(path.dirname(inPlace(name)), { recursive: true, mode: 0o700 })
      symlinkSync(elsewhere, inPlace(name))
      const expected = [`project/.reprise/${name}`, 'is a symbolic link, not a directory: remove it']
      expect(await writing(state, 'run-1', 'a')).toEqual(expected)
      // Notes of groups are not in the directory of the step.
      if (name !== 'runs/run-1/a')
        expect(refused(() => state.groupFile({ run: 'run-1', step: 'a' }, FIRST))).toEqual(expected)
      expect(refused(() => state.logsOf('run-1'))).toEqual(expected)
      expect(refused(() => state.logsOf('run-1', 'a'))).toEqual(expected)
      if (name !== 'runs/run-1/a') expect(refused(() => state.removeRun('run-1'))).toEqual(expected)
      expect(readFileSync(path.join(inside, '0.1.1.log'), 'utf8')).toBe('precious')
    },
  )

  it('is anything but a plain file in the place of a log', async () => {
    const state = StateDirectory.open(place)
    const file = state.logFile({ run: 'run-1', step: 'a' }, FIRST)
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
    const precious = path.join(base, 'precious')
    writeFileSync(precious, '')
    symlinkSync(precious, file)
    expect(await writing(state, 'run-1', 'a')).toEqual([
      'project/.reprise/runs/run-1/a/0.1.1.log',
      'is a symbolic link: remove it; what it leads to is not touched',
    ])
    expect(refused(() => state.logsOf('run-1'))[1]).toMatch(/^is a symbolic link, not a plain file/)
    rmSync(file)
    execFileSync('mkfifo', [file])
    expect((await writing(state, 'run-1', 'a'))[1]).toMatch(/^is a pipe or a device, not a plain file/)
    expect(refused(() => state.logsOf('run-1'))[1]).toMatch(/^is a pipe, not a plain file/)
    rmSync(file)
    mkdirSync(file)
    expect((await writing(state, 'run-1', 'a'))[1]).toMatch(/^is a directory, not a plain file/)
    expect(readFileSync(precious, 'utf8')).toBe('')
  })

  it('is an id that is no name', () => {
    const state = StateDirectory.open(place)
    for (const id of ['..', 'a/b', '', '.']) {
      expect(() => state.openLog({ run: id, step: 'a' }, FIRST)).toThrow(RangeError)
      expect(() => state.openLog({ run: 'a', step: id }, FIRST)).toThrow(RangeError)
      expect(() => state.logsOf(id)).toThrow(RangeError)
      expect(() => state.logsOf('a', id)).toThrow(RangeError)
      expect(() => state.groupFile({ run: 'a', step: id }, FIRST)).toThrow(RangeError)
      expect(() => state.removeRun(id)).toThrow(RangeError)
    }
  })

  const name = 'is what belongs to somebody else'
  it.skipIf(!isRoot)(isRoot ? name : `${name} (skipped: needs root)`, async () => {
    const state = StateDirectory.open(place)
    const file = await write(state, 'run-1', 'a')
    chownSync(file, 65_534, 65_534)
    expect((await writing(state, 'run-1', 'a'))[1]).toMatch(/^belongs to another user \(65534\): run as that user/)
    chownSync(place, 65_534, 65_534)
    expect(refused(() => StateDirectory.open(place))[1]).toMatch(/^belongs to another user/)
  })

  const full = 'is more than the disk holds, once, with the path'
  it.skipIf(!canMount)(canMount ? full : `${full} (skipped: needs root and mounts)`, async () => {
    mkdirSync(place, { recursive: true, mode: 0o700 })
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k,mode=700', 'none', place])
    try {
      const state = StateDirectory.open(place)
      const message = await writing(state, 'run-1', 'a', FIRST, 'x'.repeat(300_000))
      expect(message).toEqual([
        'project/.reprise/runs/run-1/a/0.1.1.log',
        'cannot be written, the disk is full: make room, then resume the run',
      ])
    } finally {
      execFileSync('umount', [place])
    }
  })
})

it('a log that has another name is still a log', async () => {
  const state = StateDirectory.open(place)
  const file = await write(state, 'run-1', 'a')
  linkSync(file, path.join(base, 'mine.log'))
  await write(state, 'run-1', 'a')
  expect(readFileSync(path.join(base, 'mine.log'), 'utf8')).toBe('said\nsaid\n')
})
