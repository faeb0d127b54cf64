/**
 * The servers that a run measures with, all of its own and in one temporary directory: PostgreSQL with full durability,
 * Redis and Restate where they are installed. Imports the server of the tests and pg.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import { freePort, PostgresServer } from '../../test/postgres/server.js'

/** Beside the defaults, which are durable: room enough that no checkpoint falls into one turn and not into another. */
const SETTINGS = { shared_buffers: '256MB', max_wal_size: '4GB' }
const SHOWN = ['fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers', 'max_wal_size', 'wal_sync_method']

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** A peer's server: its address, or why there is none. */
export type Service = { readonly place: Readonly<Record<string, unknown>> } | { readonly missing: string }

export class Place {
  private readonly postgres: PostgresServer
  private readonly admin: pg.Client
  private readonly directory = mkdtempSync(path.join(tmpdir(), 'reprise-bench-'))
  private readonly children = new Map<string, ChildProcess>()
  private readonly services = new Map<string, Promise<Service>>()
  private databases = 0

  private constructor(postgres: PostgresServer, admin: pg.Client) {
    this.postgres = postgres
    this.admin = admin
  }

  static async open(): Promise<Place> {
    const postgres = await PostgresServer.start({ maxConnections: 200, settings: SETTINGS })
    const admin = new pg.Client(postgres.url)
    await admin.connect()
    return new Place(postgres, admin)
  }

  /** A path for a file. */
  file(name: string): string {
    return path.join(this.directory, name)
  }

  /** With a new database, which is dropped afterwards. */
  async inDatabase<T>(act: (url: string) => Promise<T>): Promise<T> {
    const { name, url } = await this.addDatabase()
    try {
      return await act(url)
    } finally {
      await this.dropDatabase(name)
    }
  }

  async addDatabase(): Promise<{ readonly name: string; readonly url: string }> {
    const name = `bench${this.databases++}`
    await this.admin.query(`CREATE DATABASE ${name}`)
    return { name, url: this.postgres.urlOf(name) }
  }

  /** Connections that are still open are closed by the server. */
  async dropDatabase(name: string): Promise<void> {
    await this.admin.query(`DROP DATABASE ${name} WITH (FORCE)`)
  }

  /** Of the server that all databases are on. */
  get serverPid(): number {
    return this.postgres.pid ?? NaN
  }

  /** Version and settings. */
  async facts(): Promise<string> {
    const { rows } = await this.admin.query<{ name: string; setting: string }>(
      `SELECT name, current_setting(name) AS setting FROM unnest($1::text[]) WITH ORDINALITY AS s (name, nth) ORDER BY nth`,
      [['server_version', ...SHOWN]],
    )
    const [version, ...settings] = rows
    const said = settings.map(({ name, setting }) => `${name} ${setting}`)
    return `PostgreSQL ${version?.setting} over TCP on the same machine (${said.join(', ')})`
  }

  /** Started when it is first asked for. */
  service(name: 'redis' | 'restate'): Promise<Service> {
    const known = this.services.get(name) ?? (name === 'redis' ? this.redis() : this.restate())
    this.services.set(name, known)
    return known
  }

  /** Ends it with all that it holds; the next one who asks has a new one. */
  async drop(name: 'redis' | 'restate'): Promise<void> {
    await this.services.get(name)
    this.services.delete(name)
    const child = this.children.get(name)
    this.children.delete(name)
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  async close(): Promise<void> {
    await this.admin.end()
    await this.drop('redis')
    await this.drop('restate')
    await this.postgres.remove()
    rmSync(this.directory, { recursive: true, force: true })
  }

  private async redis(): Promise<Service> {
    const version = /v=(\S+)/.exec(spawnSync('redis-server', ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[1]
    if (version === undefined) return { missing: 'there is no redis-server in PATH' }
    const port = await freePort()
    const args = [
      '--port',
      String(port),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
      '--dir',
      this.directory,
    ]
    this.children.set('redis', spawn('redis-server', args, { stdio: 'ignore' }))
    await listening(port)
    return { place: { redisPort: port } }
  }

  private async restate(): Promise<Service> {
    const require = createRequire(new URL('package.json', import.meta.url))
    const name = `@restatedev/restate-server-${process.platform}-${process.arch}`
    let binary: string
    try {
      binary = path.join(path.dirname(require.resolve(`${name}/package.json`)), 'bin/restate-server')
    } catch {
      return { missing: `its server (${name}) is not installed` }
    }
    const [node, admin, ingress, endpointPort] = [
      await freePort(),
      await freePort(),
      await freePort(),
      await freePort(),
    ]
    const config = this.file('restate.toml')
    writeFileSync(
      config,
      `default-num-partitions = 4\nlog-filter = "error"\ndisable-telemetry = true\n[admin]\nbind-address = "127.0.0.1:${admin}"\n[ingress]\nbind-address = "127.0.0.1:${ingress}"\n`,
    )
    const args = [
      '-c',
      config,
      '--base-dir',
      this.file(`restate${node}`),
      '--listen-mode',
      'tcp',
      '--bind-port',
      String(node),
    ]
    this.children.set('restate', spawn(binary, [...args, '--no-logo'], { stdio: 'ignore' }))
    await healthy(`http://127.0.0.1:${ingress}/restate/health`)
    const urls = { adminUrl: `http://127.0.0.1:${admin}`, ingressUrl: `http://127.0.0.1:${ingress}` }
    return { place: { ...urls, endpointPort } }
  }
}

const PATIENCE_MS = 60_000

async function listening(port: number): Promise<void> {
  for (const endMs = Date.now() + PATIENCE_MS; Date.now() < endMs; await sleep(50)) {
    const socket = connect(port, '127.0.0.1')
    const isUp = await Promise.race([once(socket, 'connect'), once(socket, 'error')]).then(
      ([error]) => error === undefined,
      () => false,
    )
    socket.destroy()
    if (isUp) return
  }
  throw new Error(`Nobody listens at port ${port}`)
}

async function healthy(url: string): Promise<void> {
  for (const endMs = Date.now() + PATIENCE_MS; Date.now() < endMs; await sleep(100)) {
    const isUp = await fetch(url).then(
      (answer) => answer.ok,
      () => false,
    )
    if (isUp) return
  }
  throw new Error(`Nobody answers at ${url}`)
}
