/** That a command takes everything with it that it has started, however that hides. Real processes. */
import { spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, statSync, unlinkSync } from 'node:fs'
import path from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { MARK_DESCRIPTOR } from '../../packages/workflow/src/process/descriptor-mark.js'
import { listProcesses, type ProcessRow } from '../../packages/workflow/src/process/process-table.js'
import {
  has,
  hasProc,
  itWhere,
  kill,
  living,
  rowsOf,
  run,
  shell,
  startTree,
  type Started,
  temporaryDirectory,
  waitFor,
} from './rig.js'

const canSetsid = hasProc && has('setsid')
const left: ProcessRow[] = []
/** Whatever a test that fails has left. */
afterEach(() => kill(left.splice(0)))

async function start(...args: Parameters<typeof startTree>): Promise<Started> {
  const started = await startTree(...args)
  left.push(...started.processes)
  return started
}

/** Calls it off, and finds nobody when it is said to be over. */
async function expectGone({ stop, end, processes }: Started): Promise<Awaited<Started['end']>> {
  expect(await living(processes)).toEqual(processes.map(({ pid }) => pid))
  stop.abort()
  const ended = await end
  expect(await living(processes)).toEqual([])
  return ended
}

describe('a command that is called off', () => {
  it('is asked to end, and may say something', async () => {
    const text = `trap 'echo bye; exit 5' TERM; echo $$; while :; do sleep 0.02; done`
    const end = await expectGone(await start(text, 1))
    expect(end).toMatchObject({ exitCode: 5, signal: null })
    expect(end.stdout).toMatch(/bye\n$/)
  })

  it('is made to end when it ignores that', async () => {
    const text = `trap '' TERM; echo $$; while :; do sleep 0.02; done`
    expect(await expectGone(await start(text, 1, { graceMs: 200 }))).toMatchObject({
      exitCode: null,
      signal: 'SIGKILL',
    })
  })

  it('takes its whole group with it, those who ignore TERM and hold the pipes included', async () => {
    const deaf = `sh -c 'trap "" TERM; echo $$; while :; do sleep 0.02; done'`
    await expectGone(await start(`echo $$; ${deaf} & ${deaf} & wait`, 3, { graceMs: 200 }))
  })

  it('gives the rest of the group its grace when the program itself has gone at once', async () => {
    const slow = `sh -c 'trap "sleep 0.3; echo saved; exit" TERM; echo $$; while :; do sleep 0.02; done'`
    const end = await expectGone(await start(`echo $$; ${slow} & wait`, 2, { graceMs: 20_000 }))
    expect(end.stdout).toMatch(/saved\n$/)
  })

  it('ends although it was stopped', async () => {
    const started = await start('echo $$; kill -STOP $$', 1, { graceMs: 20_000 })
    expect(await expectGone(started)).toMatchObject({ signal: 'SIGTERM' })
  })

  itWhere(canSetsid, '/proc and setsid', 'takes those with it who have left the group', async () => {
    const deaf = `setsid sh -c 'trap "" TERM; echo $$; while :; do sleep 0.02; done'`
    await expectGone(await start(`echo $$; ${deaf} & wait`, 2, { graceMs: 200 }))
  })

  itWhere(canSetsid, '/proc and setsid', 'takes those with it whose parents are gone as well', async () => {
    const hidden = `(setsid sh -c 'echo $$; exec sleep 1000' >&2 &)`
    await expectGone(await start(`echo $$; ${hidden}; sleep 1000`, 2))
  })

  itWhere(canSetsid, '/proc and setsid', 'takes those with it who have cleared their environment', async () => {
    const bare = `env -i PATH="$PATH" setsid sh -c 'echo $$; sleep 1000 & echo $!; wait'`
    await expectGone(await start(`echo $$; ${bare} & wait`, 3))
  })

  it('is over at once when it is over', async () => {
    const started = await start('echo $$; exec sleep 1000', 1, { graceMs: 3_600_000 })
    await expectGone(started)
  })

  itWhere(hasProc, '/proc', 'leaves its neighbours alone', async () => {
    const [one, other] = await Promise.all([start('echo $$; exec sleep 1000', 1), start('echo $$; exec sleep 1000', 1)])
    await expectGone(one)
    expect(await living(other.processes)).toHaveLength(1)
    await expectGone(other)
  })
})

describe('a program that exits by itself', () => {
  it('takes its background processes with it', async () => {
    const { stdout } = await shell(`sleep 1000 & echo $!; sh -c 'trap "" TERM; echo $$; sleep 1000' & echo $!`, {
      graceMs: 200,
    })
    const pids = stdout.trim().split('\n').map(Number)
    expect(pids).toHaveLength(3)
    expect((await listProcesses()).filter(({ pid }) => pids.includes(pid))).toEqual([])
  })

  it('is not waited for longer than it runs, whoever holds its pipes', async () => {
    const end = await shell(`trap '' TERM; sleep 1000 & exit 3`, { graceMs: 100 })
    expect(end.exitCode).toBe(3)
  })

  itWhere(canSetsid, '/proc and setsid', 'takes those with it who have left the group but hold the pipes', async () => {
    const end = await shell(`setsid sh -c 'echo $$; exec sleep 1000' & sleep 0.3; exit 0`)
    expect(end).toMatchObject({ exitCode: 0 })
    await expect(rowsOf([Number(end.stdout)])).rejects.toThrow('is not there')
  })

  const leaving = (how: string): string =>
    `${how} sh -c 'echo $$ > "$1"; exec sleep 1000' _ "$F" >/dev/null 2>&1 </dev/null & until test -s "$F"; do sleep 0.02; done`
  const bare = 'env -i PATH="$PATH" setsid'
  /** Of what it has left on its way out: whether it still runs, once the command is said to be over. */
  const isLeft = async (text: string, isNoted = true): Promise<boolean> => {
    const place = temporaryDirectory()
    try {
      const file = path.join(place.path, 'pid')
      const env = { PATH: process.env['PATH'] ?? '', F: file }
      const end = await shell(text, { env, graceMs: 200, ...(isNoted && { groupFile: path.join(place.path, 'g') }) })
      expect(end).toMatchObject({ exitCode: 0, spawnError: null })
      expect(existsSync(path.join(place.path, 'g'))).toBe(false)
      const pid = Number(readFileSync(file, 'utf8'))
      left.push(...(await listProcesses()).filter((row) => row.pid === pid))
      return left.some((row) => row.pid === pid)
    } finally {
      place.remove()
    }
  }

  itWhere(canSetsid, '/proc and setsid', 'takes a service with it that has left group and pipes', async () => {
    expect(await isLeft(leaving('setsid'))).toBe(false)
    expect(await isLeft(leaving('setsid'), false)).toBe(false)
  })

  itWhere(canSetsid, '/proc and setsid', 'takes one with it that ignores TERM, whose parents are gone', async () => {
    const deaf = `sh -c 'trap "" TERM; echo $$ > "$1"; while :; do sleep 0.02; done' _ "$F"`
    const text = `(${bare} ${deaf} >/dev/null 2>&1 </dev/null &) ; until test -s "$F"; do sleep 0.02; done`
    expect(await isLeft(text)).toBe(false)
  })

  itWhere(canSetsid, '/proc and setsid', 'takes one with it that has cleared its environment as well', async () => {
    expect(await isLeft(leaving(bare))).toBe(false)
  })

  itWhere(canSetsid && has('bash'), '/proc, bash and setsid', 'does not find one without any mark', async () => {
    expect(await isLeft(`exec bash -c '${leaving(`exec 21>&-; ${bare}`).replaceAll("'", String.raw`'\''`)}'`)).toBe(
      true,
    )
  })

  itWhere(canSetsid, '/proc and setsid', 'is not held by one who hides everywhere and talks on', async () => {
    const talker = `env -i PATH="$PATH" setsid sh -c 'echo $$ >&2; while :; do echo x; sleep 0.01; done'`
    // Its parent has gone, so that it is nobody's.
    const end = await shell(`(${talker} & sleep 0.3); exit 0`)
    expect(end.exitCode).toBe(0)
    expect(end.stdout).toMatch(/^x\n/)
    await waitFor(() => !isThere(Number(end.stderrTail)))
  })

  it('may leave what was said last to a slow listener', async () => {
    let heard = ''
    const onOutput = async (_: string, bytes: Uint8Array): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, 300))
      heard += Buffer.from(bytes).toString()
    }
    await run(['sh', '-c', 'echo one; sleep 0.1; echo two'], { onOutput })
    expect(heard).toBe('one\ntwo\n')
  })
})

itWhere(
  hasProc,
  '/proc',
  'a command spares the one that has taken its place, and whose note is a new file',
  async () => {
    const place = temporaryDirectory()
    const note = path.join(place.path, 'note')
    const { processes, end } = await start('echo $$; sleep 1000 & echo $!; wait', 2, { groupFile: note })
    const { ino } = statSync(note)
    // Without a pause, as if this process had been stopped: somebody ends what runs, and removes the note.
    kill(processes)
    while (processes.some(({ pid }) => holdsDescriptor(pid)));
    unlinkSync(note)
    const number = openFileNumbered(ino, place.path)
    const stdio = [...Array<'ignore'>(MARK_DESCRIPTOR).fill('ignore'), number]
    const successor = spawn('sleep', ['1000'], { stdio, detached: true })
    const ended = new Promise((resolve) => successor.once('exit', (_code, signal) => resolve(signal)))
    closeSync(number)
    expect(await end).toMatchObject({ signal: 'SIGKILL' })
    successor.kill('SIGUSR1')
    expect(await ended).toBe('SIGUSR1')
    place.remove()
  },
)

/** A process that has ended holds none, also before its parent has heard of its end. */
function holdsDescriptor(pid: number): boolean {
  try {
    statSync(`/proc/${pid}/fd/${MARK_DESCRIPTOR}`)
    return true
  } catch {
    return false
  }
}

/** A new file with this inode number if it can be had: most file systems give the number of a removed file again at once. */
function openFileNumbered(inode: number, directory: string): number {
  for (let tries = 1; ; tries++) {
    const file = path.join(directory, `successor-${tries}`)
    const descriptor = openSync(file, 'wx')
    if (statSync(file).ino === inode || tries === 20) return descriptor
    closeSync(descriptor)
  }
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

itWhere(hasProc && has('ps'), '/proc and ps', 'processes are listed alike from /proc and by ps', async () => {
  const { processes, stop, end } = await start('echo $$; sleep 1000 & echo $!; wait', 2)
  const pids = new Set([process.pid, ...processes.map(({ pid }) => pid)])
  const of = (rows: readonly ProcessRow[]): unknown[] =>
    rows
      .filter(({ pid }) => pids.has(pid))
      .map(({ pid, parent, group }) => ({ pid, parent, group }))
      .toSorted((one, other) => one.pid - other.pid)
  const listed = await listProcesses('ps')
  expect(of(listed)).toEqual(of(await listProcesses('proc')))
  expect(of(listed)).toHaveLength(3)
  expect(listed.find(({ pid }) => pid === process.pid)?.start).toMatch(/^\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4}$/)
  stop.abort()
  await end
})
