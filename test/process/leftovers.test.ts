/** What is found and ended at a resume, and what is spared. Real processes. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { endLeftovers } from '../../packages/workflow/src/process/end-leftovers.js'
import { readGroupFile, writeGroupFile } from '../../packages/workflow/src/process/group-file.js'
import { type ProcessRow, processStart } from '../../packages/workflow/src/process/process-table.js'
import {
  has,
  hasProc,
  itWhere,
  kill,
  living,
  newTag,
  printed,
  rowsOf,
  shell,
  startTree,
  temporaryDirectory,
  waitFor,
} from './rig.js'

let place: ReturnType<typeof temporaryDirectory>
beforeAll(() => void (place = temporaryDirectory()))
afterAll(() => place.remove())
const left: ProcessRow[] = []
afterEach(() => kill(left.splice(0)))

const canSetsid = hasProc && has('setsid')

/** Somebody who was left over: its parent is gone, and it leads a group. */
async function leave(text: string, env: Record<string, string>): Promise<ProcessRow> {
  const child = spawn('sh', ['-c', 'setsid sh -c "$SCRIPT" &'], {
    env: { PATH: process.env['PATH'] ?? '', SCRIPT: text, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let said = ''
  child.stdout.on('data', (bytes: Buffer) => (said += bytes.toString()))
  await waitFor(() => printed(said).length === 1 && child.exitCode !== null)
  const rows = await rowsOf(printed(said))
  left.push(...rows)
  for (const row of rows) return row
  throw new Error('Nobody is left')
}
const WAIT = 'echo $$; while :; do sleep 0.05; done'
const DEAF = `trap '' TERM; ${WAIT}`

describe('by the tag', () => {
  itWhere(canSetsid, '/proc and setsid', 'everything of the attempt is ended, and nothing of another', async () => {
    const tag = newTag()
    const [one, deaf, longer, other] = [
      await leave(WAIT, { REPRISE_TAG: tag }),
      await leave(DEAF, { REPRISE_TAG: tag }),
      await leave(WAIT, { REPRISE_TAG: `${tag}0` }),
      await leave(WAIT, { NOT_REPRISE_TAG: tag, X: `REPRISE_TAG=${tag}` }),
    ]
    expect(await endLeftovers(tag, { graceMs: 200 })).toBeGreaterThanOrEqual(2)
    expect(await living([one, deaf, longer, other])).toEqual([longer.pid, other.pid])
    expect(await endLeftovers(tag)).toBe(0)
  })

  itWhere(canSetsid, '/proc and setsid', 'everything below it is ended if that is asked for', async () => {
    const tag = newTag()
    const [below, beside] = [
      await leave(WAIT, { REPRISE_TAG: `${tag}/fetch/1.2.1` }),
      await leave(WAIT, { REPRISE_TAG: `${tag}-x/fetch` }),
    ]
    expect(await endLeftovers(tag)).toBe(0)
    expect(await endLeftovers(tag, { isPrefix: true })).toBeGreaterThan(0)
    expect(await living([below, beside])).toEqual([beside.pid])
  })

  itWhere(canSetsid, '/proc and setsid', 'who asks is spared, and who has started it', async () => {
    const tag = newTag()
    const cwd = fileURLToPath(new URL('.', import.meta.url))
    const asking = `"${process.execPath}" --conditions=reprise-source --import tsx end-leftovers.ts ${tag}`
    const end = await shell(`${asking}; echo still here`, { tag, cwd })
    expect([end.exitCode, end.stderrTail, end.stdout]).toEqual([0, '', '0\nstill here\n'])
  })
})

describe('by the note beside the log', () => {
  const noteOf = async (name: string, text: string): Promise<{ file: string; row: ProcessRow }> => {
    const file = path.join(place.path, name)
    const row = await leave(text, {})
    writeGroupFile(file, { group: row.pid, start: row.start, tag: 't' })
    return { file, row }
  }

  itWhere(canSetsid, '/proc and setsid', 'a group without a tag is ended, and the note removed', async () => {
    const { file, row } = await noteOf('one.group', DEAF)
    expect(await endLeftovers(newTag(), { groupFiles: [file], graceMs: 200 })).toBeGreaterThan(0)
    expect([await living([row]), existsSync(file)]).toEqual([[], false])
  })

  itWhere(canSetsid, '/proc and setsid', 'a pid that is used again harms nobody', async () => {
    const { file, row } = await noteOf('reused.group', WAIT)
    const note = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
    writeFileSync(file, JSON.stringify({ ...note, start: String(Number(row.start) - 1) }))
    expect(await endLeftovers(newTag(), { groupFiles: [file] })).toBe(0)
    writeFileSync(file, JSON.stringify({ ...note, space: 'another boot/pid:[1]' }))
    expect(await endLeftovers(newTag(), { groupFiles: [file] })).toBe(0)
    expect(await living([row])).toEqual([row.pid])
  })

  itWhere(canSetsid, '/proc and setsid', 'what is no note is nothing', async () => {
    const contents = ['', '{', 'null', '[]', '{"group":1,"start":"1"}', '{"group":-1}', 'x'.repeat(10_000)]
    const files = contents.map((text, index) => {
      const file = path.join(place.path, `bad-${index}.group`)
      writeFileSync(file, text)
      return file
    })
    mkdirSync(path.join(place.path, 'directory.group'))
    symlinkSync('/dev/zero', path.join(place.path, 'link.group'))
    for (const file of [...files, path.join(place.path, 'link.group'), path.join(place.path, 'directory.group')]) {
      expect(readGroupFile(file)).toBeNull()
    }
    expect(await endLeftovers(newTag(), { groupFiles: [...files, path.join(place.path, 'none.group')] })).toBe(0)
  })

  itWhere(canSetsid, '/proc and setsid', 'a running command has one, and takes it away with itself', async () => {
    const groupFile = path.join(place.path, 'running.group')
    const { processes, stop, end, command } = await startTree('echo $$; exec sleep 1000', 1, { groupFile })
    left.push(...processes)
    await waitFor(() => existsSync(groupFile))
    const [row] = processes
    expect(readGroupFile(groupFile)).toEqual({ group: row?.pid, start: processStart(row?.pid ?? 0), tag: command.tag })
    expect(statSync(groupFile).mode & 0o777).toBe(0o600)
    stop.abort()
    await end
    expect(existsSync(groupFile)).toBe(false)
  })

  itWhere(canSetsid, '/proc and setsid', 'a command whose note cannot be written is ended, and says so', async () => {
    const groupFile = path.join(place.path, 'missing', 'x.group')
    await expect(shell('echo $$; exec sleep 1000', { groupFile })).rejects.toThrow('ENOENT')
    symlinkSync(path.join(place.path, 'elsewhere'), path.join(place.path, 'planted.group'))
    const planted = path.join(place.path, 'planted.group')
    await expect(shell('exec sleep 1000', { groupFile: planted })).rejects.toThrow('is a symbolic link')
    expect(existsSync(path.join(place.path, 'elsewhere'))).toBe(false)
  })
})
