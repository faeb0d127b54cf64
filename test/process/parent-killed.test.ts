/** Commands end when the process that started them is killed. With real SIGKILL and real process trees. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { KEEPER_PROGRAM } from '../../packages/workflow/src/process/keeper-program.js'
import {
  environmentOf,
  listProcesses,
  type ProcessRow,
  processStart,
} from '../../packages/workflow/src/process/process-table.js'
import { ProcessTree } from '../../packages/workflow/src/process/process-tree.js'
import type { Settings } from './main-thread.js'
import { has, hasProc, itWhere, kill, living, newTag, printed, rowsOf, startProgram, waitFor } from './rig.js'

const canSetsid = hasProc && has('setsid')
const left: { pid: number }[] = []
afterEach(() => kill(left.splice(0)))

const IGNORES_TERM = `trap "" TERM; echo $$; while :; do sleep 0.05; done`
/** A group leader, a child that ignores TERM, another in a session of its own, and an orphan in a session of its own. */
const TREE = `echo $$; sh -c '${IGNORES_TERM}' & setsid sh -c '${IGNORES_TERM}' & (setsid sh -c 'echo $$; exec sleep 1000' &); wait`

/** Starts a parent with commands and kills it once `pids` pids are printed. Returns the processes of those pids. */
async function killParent(commands: Settings['commands'], pids: number, before = 0): Promise<ProcessRow[]> {
  const { child, said, ended } = startProgram(
    'main-thread.ts',
    JSON.stringify({ commands, isHeard: true, before } satisfies Settings),
  )
  await waitFor(() => printed(said()).length >= pids)
  const rows = await rowsOf(printed(said()))
  left.push(...rows)
  expect(await living(rows)).toHaveLength(pids)
  child.kill('SIGKILL')
  expect(await ended).toBe('SIGKILL')
  return rows
}

/**
 * Whether a keeper's arguments name the group. The wait channel of the parent does not tell as much: for a process that
 * is running it is `0`, as it is where the system hides it.
 */
function knowsOf(keeper: ProcessRow, group: number): boolean {
  try {
    return new RegExp(`^g \\d+ ${group} `, 'm').test(readFileSync(`/proc/${keeper.pid}/cmdline`, 'utf8'))
  } catch {
    // It has ended since it was listed.
    return false
  }
}

describe('when a process is killed', () => {
  itWhere(canSetsid, '/proc and setsid', 'the whole tree of its command ends, other sessions included', async () => {
    const rows = await killParent([{ argv: ['sh', '-c', TREE], tag: newTag(), graceMs: 300 }], 4)
    await waitFor(async () => (await living(rows)).length === 0)
  })

  itWhere(hasProc, '/proc', 'while it is starting commands, none of them is left', async () => {
    for (const started of [1, 4, 9, 16, 25]) {
      const tag = newTag()
      const commands = Array.from({ length: 40 }, (_, index) => ({ argv: ['sleep', '1000'], tag: `${tag}/${index}` }))
      const isMarked = (pid: number): boolean =>
        environmentOf(pid).some((word) => word.startsWith(`REPRISE_TAG=${tag}/`))
      const tree = new ProcessTree({ groups: new Map(), isMarked, since: null })
      const { child, ended } = startProgram('main-thread.ts', JSON.stringify({ commands } satisfies Settings))
      await waitFor(async () => (await tree.find()).length >= started)
      child.kill('SIGKILL')
      left.push(...(await tree.find()))
      await ended
      await waitFor(async () => (await tree.find()).length === 0)
    }
  })

  it('all of its commands end', async () => {
    const commands = Array.from({ length: 5 }, () => ({
      argv: ['sh', '-c', IGNORES_TERM],
      tag: newTag(),
      graceMs: 300,
    }))
    const rows = await killParent(commands, 5)
    await waitFor(async () => (await living(rows)).length === 0)
  })

  it('its command without an environment ends', async () => {
    const argv = ['sh', '-c', `exec env -i sh -c '${IGNORES_TERM}'`]
    const rows = await killParent([{ argv, tag: newTag(), graceMs: 300 }], 1)
    await waitFor(async () => (await living(rows)).length === 0)
  })

  it('its command without an environment ends, also if others have run and ended right before', async () => {
    const argv = ['sh', '-c', `exec env -i sh -c '${IGNORES_TERM}'`]
    const rows = await killParent([{ argv, tag: newTag() }], 1, 5)
    await waitFor(async () => (await living(rows)).length === 0)
  })

  itWhere(hasProc, '/proc', 'its command may clean up within its grace', async () => {
    const cleanUp = `trap 'sleep 0.3; kill $helper; exit' TERM; setsid sleep 1000 & helper=$!; echo $$; echo $helper`
    const text = `${cleanUp}; while :; do sleep 0.05; done`
    const rows = await killParent([{ argv: ['sh', '-c', text], tag: newTag(), graceMs: 60_000 }], 2)
    // The grace is a minute and the clean-up takes 0.3 s: without that clean-up this would take the whole minute.
    await waitFor(async () => (await living(rows)).length === 0)
  })

  describe('its keeper', () => {
    /** Starts a parent with one running command. Its keepers are its other children that lead a group. */
    async function startKept(): Promise<{ parent: number; command: ProcessRow; keepers: () => Promise<ProcessRow[]> }> {
      const commands = [{ argv: ['sh', '-c', IGNORES_TERM], tag: newTag(), graceMs: 300 }]
      const program = startProgram('main-thread.ts', JSON.stringify({ commands, isHeard: true } satisfies Settings))
      const parent = program.child.pid ?? 0
      await waitFor(() => printed(program.said()).length === 1)
      const [command] = await rowsOf(printed(program.said()))
      if (command === undefined) throw new Error('The command has not started')
      left.push(command, { pid: parent })
      const keepers = async (): Promise<ProcessRow[]> =>
        (await listProcesses()).filter(
          (row) => row.parent === parent && row.group === row.pid && row.pid !== command.pid,
        )
      return { parent, command, keepers }
    }

    itWhere(hasProc, '/proc', 'ends once the command has ended', async () => {
      const { parent, command, keepers } = await startKept()
      const [keeper, ...others] = await keepers()
      expect(others).toEqual([])
      if (keeper === undefined) throw new Error('No keeper found')
      left.push(keeper)
      process.kill(parent, 'SIGKILL')
      await waitFor(async () => (await living([keeper, command])).length === 0)
    })

    itWhere(hasProc, '/proc', 'ends the command also when it replaced a killed keeper', async () => {
      const { parent, command, keepers } = await startKept()
      kill(await keepers())
      await waitFor(async () => (await keepers()).some((keeper) => knowsOf(keeper, command.group)))
      process.kill(parent, 'SIGKILL')
      await waitFor(async () => (await living([command])).length === 0)
    })
  })
})

describe.each([
  ['sh', ['sh']],
  ['dash', ['dash']],
  ['bash', ['bash', '--posix']],
  ['busybox', ['busybox', 'sh']],
])('a keeper in %s', (name, [shell = '', ...options]) => {
  const mark = `REPRISE_PARENT=${newTag()}`
  const start = (program: string, known = ''): ChildProcess => {
    const keeper = spawn(shell, [...options, '-c', program, 'keeper', mark, known], {
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true,
    })
    left.push({ pid: keeper.pid ?? 0 })
    return keeper
  }
  const sleeper = (env: Record<string, string>): { pid: number; row: Promise<ProcessRow[]> } => {
    const { pid = 0 } = spawn('sleep', ['1000'], { env: { PATH: process.env['PATH'] ?? '', ...env }, detached: true })
    left.push({ pid })
    return { pid, row: rowsOf([pid]) }
  }
  const entry = (id: number, pid: number, begun = processStart(pid)): string =>
    `b ${id} 3\ng ${id} ${pid} ${begun ?? 0}\n`
  const [variable = '', value = ''] = mark.split('=')

  itWhere(
    has(shell) && hasProc,
    `${name} and /proc`,
    'ends live groups and marked processes, and no others',
    async () => {
      const [one, done, marked, stranger] = [sleeper({}), sleeper({}), sleeper({ [variable]: value }), sleeper({})]
      const keeper = start(KEEPER_PROGRAM)
      const bystanders = [...(await done.row), ...(await stranger.row)]
      const targets = [...(await one.row), ...(await marked.row)]
      keeper.stdin?.end(`${entry(1, one.pid)}${entry(2, done.pid)}e 2\n${entry(3, stranger.pid, '1')}`)
      await waitFor(async () => (await living(targets)).length === 0)
      expect(await living(bystanders)).toHaveLength(2)
    },
  )

  itWhere(has(shell) && hasProc, `${name} and /proc`, 'knows the commands that its arguments name', async () => {
    const [one, done, two] = [sleeper({}), sleeper({}), sleeper({})]
    const targets = [...(await one.row), ...(await two.row)]
    const bystanders = await done.row
    const room = mkdtempSync(path.join(tmpdir(), 'a * keeper-'))
    const keeper = start(KEEPER_PROGRAM, `d ${room}\n${entry(1, one.pid)}${entry(2, done.pid)}`)
    keeper.stdin?.end(`e 2\n${entry(3, two.pid)}`)
    await waitFor(async () => (await living(targets)).length === 0)
    expect(await living(bystanders)).toHaveLength(1)
    await waitFor(() => !existsSync(room))
  })

  itWhere(
    has(shell) && has('mkfifo'),
    `${name} and mkfifo`,
    'makes pipes, answers their count and removes them',
    async () => {
      const room = mkdtempSync(path.join(tmpdir(), 'a keeper-'))
      const keeper = start(KEEPER_PROGRAM)
      let said = ''
      keeper.stdout?.on('data', (bytes: Buffer) => (said += bytes.toString()))
      keeper.stdin?.write(`d ${room}\nm 1 3\nm 7 2\nm 2 1\n`)
      // Pipe 2 exists already, so the last request fails.
      await waitFor(() => said === '3\n2\n0\n')
      expect(readdirSync(room).toSorted()).toEqual(['1', '2', '3', '7', '8'])
      expect(lstatSync(path.join(room, '8')).isFIFO()).toBe(true)
      expect(lstatSync(path.join(room, '8')).mode & 0o777).toBe(0o600)
      keeper.stdin?.end()
      await waitFor(() => !existsSync(room))
    },
  )

  itWhere(has(shell), name, 'ends at once when no command is live', async () => {
    const marked = sleeper({ [variable]: value })
    const keeper = start(KEEPER_PROGRAM)
    const rows = await marked.row
    const ended = new Promise((resolve) => keeper.once('exit', resolve))
    keeper.stdin?.end(`b 1 3\nb 12 3\ne 1\ne 12\n`)
    expect(await ended).toBe(0)
    expect(await living(rows)).toHaveLength(1)
  })

  itWhere(has(shell), name, 'ends groups where there is no /proc', async () => {
    const one = sleeper({})
    const rows = await one.row
    const keeper = start(KEEPER_PROGRAM.replace('[ -r /proc/self/stat ]', 'false'))
    keeper.stdin?.end(entry(1, one.pid, '0'))
    await waitFor(async () => (await living(rows)).length === 0)
  })

  itWhere(has(shell) && hasProc, `${name} and /proc`, 'ignores signals', async () => {
    const one = sleeper({})
    const rows = await one.row
    const keeper = start(KEEPER_PROGRAM)
    keeper.stdin?.write(entry(1, one.pid))
    await waitFor(() => ignoresTerm(keeper.pid ?? 0))
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGTERM'] as const) keeper.kill(signal)
    keeper.stdin?.end()
    await waitFor(async () => (await living(rows)).length === 0)
    expect(keeper.signalCode).toBeNull()
  })
})

function ignoresTerm(pid: number): boolean {
  const [, mask = '0'] = /^SigIgn:\s*(\S+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return (BigInt(`0x${mask}`) & (1n << 14n)) !== 0n
}
