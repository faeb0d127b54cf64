/** A command's output on its way into its log: masked, whole, and failing loudly. Real processes, real disks. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { maskOutput } from '../../packages/workflow/src/masking/masked-output.js'
import { Masker } from '../../packages/workflow/src/masking/masker.js'
import { runCommand } from '../../packages/workflow/src/process/run-command.js'
import { StateDirectory } from '../../packages/workflow/src/state/state-directory.js'

const FIRST = { generation: 0, attempt: 1, execution: 1 }
const isRoot = process.getuid?.() === 0
const canMount = isRoot && spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'none', '/tmp']).status === 0
let place = ''
beforeEach(() => void (place = mkdtempSync(path.join(tmpdir(), 'reprise-log-'))))
afterEach(() => rmSync(place, { recursive: true, force: true }))

/** The command's log, and how it ended. */
async function runLogged(
  text: string,
  secrets: Record<string, string>,
): Promise<{ file: string; exitCode: number | null }> {
  const state = StateDirectory.open(path.join(place, '.reprise'))
  const log = state.openLog({ run: 'run', step: 'step' }, FIRST)
  const output = maskOutput(new Masker(secrets), (stream, bytes) => log.write(stream, bytes))
  try {
    const { exitCode } = await runCommand({
      argv: ['sh', '-c', text],
      env: { PATH: process.env['PATH'] ?? '', ...secrets },
      cwd: place,
      tag: `log-${process.pid}/${path.basename(place)}`,
      signal: new AbortController().signal,
      graceMs: 1000,
      keepStdoutBytes: 0,
      onOutput: output.write,
      groupFile: state.groupFile({ run: 'run', step: 'step' }, FIRST),
    })
    await output.end()
    return { file: log.path, exitCode }
  } finally {
    await log.close()
  }
}

it('a secret that comes in pieces is not in the log', async () => {
  const text = `printf 'token: sup'; sleep 0.1; printf 'er-secret\\n'; sleep 0.1; echo "$TOKEN" | base64 >&2; printf 'end: super-'`
  const { file, exitCode } = await runLogged(text, { TOKEN: 'super-secret' })
  expect(exitCode).toBe(0)
  expect(readFileSync(file, 'utf8')).toMatch(/^token: \*\*\*\n\*\*\*.{0,4}\nend: super-$/)
})

it('much output is whole', async () => {
  const { file } = await runLogged('seq 1 300000', { TOKEN: 'not in there' })
  const digest = (command: string): string => execFileSync('sh', ['-c', command]).toString().split(' ')[0] ?? ''
  expect(digest(`cksum < ${file}`)).toBe(digest('seq 1 300000 | cksum'))
})

const full = 'a full disk ends the command, and is named'
it.skipIf(!canMount)(canMount ? full : `${full} (skipped: needs root and mounts)`, async () => {
  const disk = path.join(place, '.reprise')
  mkdirSync(disk, { mode: 0o700 })
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=200k,mode=700', 'none', disk])
  try {
    await expect(runLogged('yes', {})).rejects.toMatchObject({
      name: 'StateError',
      errno: 'ENOSPC',
      path: path.join(disk, 'runs/run/step/0.1.1.log'),
    })
  } finally {
    execFileSync('umount', [disk])
  }
})
