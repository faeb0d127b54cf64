/** Commands that the spawner starts are what they are without it, and end as surely. With real processes, and SIGKILL. */
import { afterEach, describe, expect, it } from 'vitest'
import type { CommandEnd } from '../../packages/workflow/src/process/command.js'
import { listProcesses, type ProcessRow } from '../../packages/workflow/src/process/process-table.js'
import type { Settings } from './main-thread.js'
import { has, hasProc, kill, living, newTag, printed, rowsOf, startProgram, waitFor } from './rig.js'

const left: { pid: number }[] = []
afterEach(() => kill(left.splice(0)))

const IGNORES_TERM = `trap "" TERM; echo $$; while :; do sleep 0.05; done`
const settingsOf = (commands: Settings['commands'], more: Partial<Settings> = {}): string =>
  JSON.stringify({ commands, isSpawned: true, ...more } satisfies Settings)

async function ends(commands: Settings['commands'], more: Partial<Settings> = {}): Promise<readonly CommandEnd[]> {
  const { said, ended } = startProgram('main-thread.ts', settingsOf(commands, more))
  expect(await ended).toBe(0)
  return JSON.parse(said()) as CommandEnd[]
}

/** A process whose spawner has started these commands, once `pids` pids are printed; the last of the rows is the spawner. */
async function started(
  commands: Settings['commands'],
  pids: number,
): Promise<ReturnType<typeof startProgram> & { rows: ProcessRow[]; spawner: ProcessRow }> {
  const program = startProgram('main-thread.ts', settingsOf(commands, { isHeard: true }))
  await waitFor(() => printed(program.said()).length >= pids)
  const rows = await rowsOf(printed(program.said()))
  const parents = await rowsOf([rows[0]?.parent ?? 0])
  const [spawner] = parents
  if (spawner === undefined) throw new Error('There is no spawner')
  left.push(...rows, spawner)
  expect(spawner.parent).toBe(program.child.pid)
  return { ...program, rows, spawner }
}

describe.skipIf(!hasProc)('the spawner', () => {
  it('starts commands that see and give what they would without it', async () => {
    const commands: Settings['commands'] = [
      {
        argv: ['sh', '-c', 'env | sort; pwd; cat; echo oops >&2; exit 3'],
        env: { PATH: '/usr/bin:/bin', A: "it's\n" },
      },
      { argv: ['sh', '-c', 'kill -SEGV $$'] },
      { argv: ['no-such-program'] },
      { argv: ['sh', '-c', 'echo $0 "$@"', 'a b', 'ü', ''], file: '/bin/sh' },
      { argv: ['cat', '/dev/stdin'], stdin: 'x'.repeat(100_000), env: { PATH: '/usr/bin:/bin', B: 'other' } },
      { argv: ['true'], cwd: '/no/such/directory' },
      { argv: ['sh', '-c', 'ps -o pid=,pgid=,sid= -p $$ | tr -s " "; readlink /proc/$$/fd/0; ls /proc/$$/fd | wc -l'] },
    ].map((command, index) => ({ cwd: '/tmp', stdin: 'input\n', tag: `tag/${index}`, ...command }))
    const [by, without] = await Promise.all([ends(commands), ends(commands, { isSpawned: false })])
    // Pids, marks and names of files differ; that pid, group and session are one number does not.
    const told = (all: readonly CommandEnd[]): string =>
      JSON.stringify(all.map(({ durationMs: _durationMs, ...end }) => end))
        .replaceAll(/\b(\d{3,}) \1 \1\b/g, 'PID PID PID')
        .replaceAll(/REPRISE_PARENT=[-\w]+/g, 'REPRISE_PARENT=…')
        .replaceAll(/reprise-pipes-\w+/g, 'reprise-pipes-…')
    expect(JSON.parse(told(by))).toEqual(JSON.parse(told(without)))
    expect(by.map(({ exitCode, signal }) => exitCode ?? signal)).toEqual([3, 'SIGSEGV', null, 0, 0, null, 0])
  })

  it.skipIf(!has('setsid'))(
    'leaves nothing when its parent is killed, other sessions and itself included',
    async () => {
      const tree = `echo $$; sh -c '${IGNORES_TERM}' & (setsid sh -c 'echo $$; exec sleep 1000' &); wait`
      const { child, ended, rows, spawner } = await started(
        [{ argv: ['sh', '-c', tree], tag: newTag(), graceMs: 300 }],
        3,
      )
      expect(rows[0]?.group).toBe(rows[0]?.pid)
      child.kill('SIGKILL')
      expect(await ended).toBe('SIGKILL')
      await waitFor(async () => (await living([...rows, spawner])).length === 0)
    },
  )

  it('that is killed takes its commands with it, and the next ones run without it', async () => {
    const commands = [
      { argv: ['sh', '-c', IGNORES_TERM], tag: newTag() },
      { argv: ['sh', '-c', 'echo $$; trap "exit 5" TERM; while :; do sleep 0.05; done'], tag: newTag() },
    ]
    const { said, ended, rows, spawner } = await started([...commands], 2)
    process.kill(spawner.pid, 'SIGKILL')
    await waitFor(async () => (await living(rows)).length === 0)
    await waitFor(() => said().includes('afterwards: 0 nothing else'))
    expect(await ended).toBe(0)
  })

  it('ends when it is closed, and holds nothing until then', async () => {
    const [end] = await ends([{ argv: ['sh', '-c', 'echo $PPID'], tag: newTag() }])
    const spawner = Number(end?.stdout)
    expect((await listProcesses()).some(({ pid }) => pid === spawner)).toBe(false)
  })
})
