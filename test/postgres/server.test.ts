/** Servers for tests: that they keep what is committed, run without rights, and leave nothing behind. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { canBeOtherUser, isRoot, OTHER_USER, OTHER_USER_NEED } from '../faults/other-user.js'
import { waitFor, works } from '../faults/rig.js'
import { PostgresServer } from './server.js'
import { testDatabase } from './shared-server.js'

const AS_OTHER_USER = ['setpriv', `--reuid=${OTHER_USER}`, `--regid=${OTHER_USER}`, '--clear-groups']
const canDropRights = canBeOtherUser && works('setpriv', [...AS_OTHER_USER.slice(1), 'true'])

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

interface Told {
  readonly url: string
  readonly pid: number
  readonly directory: string
  readonly uid: number
}

const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

async function starter(prefix: readonly string[], ...args: string[]): Promise<{ child: ChildProcess; told: Told }> {
  const file = fileURLToPath(new URL('starter.ts', import.meta.url))
  const [executable = '', ...rest] = [...prefix, process.execPath, '--import', 'tsx', file, ...args]
  // Who has no home cannot keep what tsx compiles.
  const child = spawn(executable, rest, { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, HOME: '/' } })
  children.push(child)
  let said = ''
  child.stdout?.on('data', (text: Buffer) => (said += text.toString()))
  await waitFor(() => said.includes('\n') || child.exitCode !== null, 'a starter says where its server is')
  return { child, told: JSON.parse(said) as Told }
}

describe('a server of its own', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await PostgresServer.start()
    return () => server.remove()
  })

  it('runs without rights', () => {
    const [, uid] = /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8')) ?? []
    if (isRoot) expect(Number(uid)).toBeGreaterThan(0)
    else expect(Number(uid)).toBe(process.getuid?.())
  })

  it('keeps what was committed over an immediate stop, on the same port', async () => {
    await query(server.url, 'CREATE TABLE kept (n int); INSERT INTO kept VALUES (1), (2)')
    const { url, pid } = server
    await server.stop('immediate')
    await expect(query(url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED')
    await server.start()
    expect([server.url, server.pid === pid]).toEqual([url, false])
    expect(server.log).toContain('database system was not properly shut down')
    expect(await query(url, 'SELECT n FROM kept ORDER BY n')).toEqual([{ n: 1 }, { n: 2 }])
    await server.restart('fast')
    expect(await query(url, 'SELECT count(*)::int AS n FROM kept')).toEqual([{ n: 2 }])
  })

  it('wants a password, and has the settings that were asked for', async () => {
    const stranger = new URL(server.url)
    stranger.password = 'guessed'
    await expect(query(stranger.href, 'SELECT 1')).rejects.toThrow('password authentication failed')
    const settings = `SELECT current_setting('fsync') AS fsync, current_setting('max_connections') AS max`
    expect(await query(server.url, settings)).toEqual([{ fsync: 'on', max: '100' }])
  })

  it('says what is wrong with a setting', async () => {
    await expect(PostgresServer.start({ settings: { shared_buffers: 'lots' } })).rejects.toThrow(
      /does not start:[^]*invalid value for parameter "shared_buffers"/,
    )
  })
})

describe('a starter that is killed', () => {
  async function leavesNothing(prefix: readonly string[]): Promise<Told> {
    const { child, told } = await starter(prefix)
    expect(await query(told.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    // The prefix became the process, so it is the one.
    child.kill('SIGKILL')
    await waitFor(() => !isAlive(told.pid) && !existsSync(told.directory), 'the server and its data are gone')
    return told
  }

  it('leaves nothing behind', async () => {
    expect((await leavesNothing([])).uid).toBe(process.getuid?.())
  })

  it.skipIf(!canDropRights)(
    `leaves nothing behind without rights either${canDropRights ? '' : ` ${OTHER_USER_NEED}`}`,
    async () => {
      expect((await leavesNothing(AS_OTHER_USER)).uid).toBe(OTHER_USER)
    },
  )
})

describe('the shared server', () => {
  it('is one for all, with a database for each', async () => {
    const [one, other] = await Promise.all([testDatabase(), testDatabase()])
    const { child, told } = await starter([], 'shared')
    expect(new Set([one.url, other.url, told.url]).size).toBe(3)
    expect(new Set([one.url, other.url, told.url].map((url) => new URL(url).host)).size).toBe(1)
    child.kill('SIGKILL')
    await query(one.url, 'CREATE TABLE mine (n int)')
    await expect(query(other.url, 'TABLE mine')).rejects.toThrow('does not exist')
    const client = new pg.Client({ connectionString: one.url })
    client.on('error', () => undefined)
    await client.connect()
    await one.drop()
    await other.drop()
    await expect(query(one.url, 'SELECT 1')).rejects.toThrow('does not exist')
  })
})
