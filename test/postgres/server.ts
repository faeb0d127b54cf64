/**
 * A real PostgreSQL server for tests, that can be stopped in the middle and started again on the same data and port. It
 * ends with the process that started it, also by SIGKILL: a shell without rights is the server's parent, and reads from a
 * pipe that ends with us; then it ends the server and removes the data. Imports Node and the place of the binaries.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { type Account, binariesFor, unprivileged } from './binaries.js'

export interface ServerOptions {
  /** Whether what is committed outlives the machine; off is faster, and enough for all but tests of just that. */
  readonly fsync?: boolean
  readonly maxConnections?: number
  /** Any other settings. */
  readonly settings?: Readonly<Record<string, string | number>>
}

/** `immediate`: without a checkpoint, as in a crash. */
export type StopMode = 'fast' | 'immediate'

/** Each line is a command; the end of the input is the end of whoever wrote them. */
const WATCHER = `
while IFS= read -r line; do
  ( eval "$line" </dev/null >>"$1/log" 2>&1; code=$?; rm -f "$1/pid"; echo $code ) &
  last=$!
done
tries=0
while [ -n "$last" ] && kill -0 "$last" 2>/dev/null; do
  # It needs five seconds at most, if it can end at all.
  [ $tries -lt 200 ] && signal=QUIT || signal=KILL
  [ -s "$1/pid" ] && kill -$signal "$(cat "$1/pid" 2>/dev/null)" 2>/dev/null
  tries=$((tries + 1))
  sleep 0.05
done
rm -rf "$1"
`

/** As long as a busy machine may need. */
const MAX_WAIT_MS = 60_000
const PORTS_TRIED = 5
/** Signals that the postmaster knows. */
const SIGNALS = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

export class PostgresServer {
  readonly directory: string
  port = 0
  /** Of the postmaster; undefined while it is stopped. */
  pid: number | undefined = undefined
  private readonly options: ServerOptions
  private readonly account: Account | undefined
  private readonly watcher: ChildProcessByStdio<Writable, Readable, null>
  private readonly password = randomBytes(12).toString('hex')
  private readonly bin: string
  /** Exit codes of the commands that have ended. */
  private readonly codes: number[] = []
  private isGone = false
  private hasEnded = (): boolean => true

  private constructor(options: ServerOptions) {
    this.options = options
    this.account = unprivileged()
    this.directory = mkdtempSync(path.join(tmpdir(), 'reprise-postgres-'))
    if (this.account !== undefined) chownSync(this.directory, this.account.uid, this.account.gid)
    // In a session of its own: an interrupt from the terminal is for us, and we end it.
    this.watcher = spawn('sh', ['-c', WATCHER, 'sh', this.directory], {
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true,
      cwd: this.directory,
      ...this.account,
    })
    this.watcher.stdout.on('data', (said: Buffer) => this.codes.push(...said.toString().trim().split('\n').map(Number)))
    this.watcher.once('exit', () => (this.isGone = true))
    this.watcher.stdin.on('error', () => undefined)
    this.bin = binariesFor(this.account, this.directory)
    // Nobody is kept alive by it; who waits for something waits with a timer.
    this.watcher.unref()
    for (const pipe of [this.watcher.stdin, this.watcher.stdout]) (pipe as unknown as { unref(): void }).unref()
  }

  static async start(options: ServerOptions = {}): Promise<PostgresServer> {
    const server = new PostgresServer(options)
    try {
      await server.initialize()
      await server.start()
      return server
    } catch (error) {
      await server.remove()
      throw error
    }
  }

  /** Of the database that is always there, as the superuser. */
  get url(): string {
    return this.urlOf('postgres')
  }

  urlOf(database: string, port = this.port): string {
    return `postgres://postgres:${this.password}@127.0.0.1:${port}/${database}`
  }

  get log(): string {
    return readFileSync(path.join(this.directory, 'log'), 'utf8')
  }

  /** It may end by itself, if its disk fails while it recovers. */
  get isRunning(): boolean {
    return this.pid !== undefined && !this.hasEnded()
  }

  /** On the port it had, if it ran before. */
  async start(): Promise<void> {
    if (this.isRunning) throw new Error(`The server runs already (${this.pid}): stop it first`)
    for (let tried = 1; ; tried++) {
      const port = this.port === 0 ? await freePort() : this.port
      if (await this.startAt(port)) {
        this.port = port
        return
      }
      // Somebody else may have taken it meanwhile.
      const isTaken = this.log.slice(-2000).includes('Address already in use')
      if (this.port !== 0 || !isTaken || tried === PORTS_TRIED) throw this.failed('does not start')
    }
  }

  /** It accepts connections, or has ended: after a crash it recovers, if it can. */
  async settled(): Promise<void> {
    const isReady = (): boolean => {
      const { log } = this
      const crash = Math.max(log.lastIndexOf('PANIC:'), log.lastIndexOf('terminating any other active'))
      return log.lastIndexOf('ready to accept connections') > crash
    }
    await this.until(() => this.hasEnded() || isReady(), 'does not recover')
  }

  /** A child that ended while somebody traced it may not have been told of: the server would wait for it for ever. */
  lookAround(): void {
    if (this.isRunning) process.kill(this.pid ?? 0, 'SIGCHLD')
  }

  async stop(mode: StopMode = 'fast'): Promise<void> {
    const { pid, isRunning } = this
    this.pid = undefined
    if (pid === undefined || !isRunning) return
    process.kill(pid, SIGNALS[mode])
    await this.until(this.hasEnded, 'does not stop')
  }

  async restart(mode: StopMode = 'fast'): Promise<void> {
    await this.stop(mode)
    await this.start()
  }

  /** Ends it, whatever it does, and removes its data. */
  async remove(): Promise<void> {
    this.pid = undefined
    this.watcher.stdin.end()
    await this.until(() => this.isGone, 'does not end')
    // A directory for temporary files that others may not write to keeps the empty one.
    rmSync(this.directory, { recursive: true, force: true })
  }

  private get data(): string {
    return path.join(this.directory, 'data')
  }

  /** Whether the command that runs, or is about to, has ended. */
  private nextEnd(): () => boolean {
    const { length } = this.codes
    return () => this.codes.length > length
  }

  private async initialize(): Promise<void> {
    const secret = path.join(this.directory, 'password')
    writeFileSync(secret, this.password, { mode: 0o600 })
    if (this.account !== undefined) chownSync(secret, this.account.uid, this.account.gid)
    const access = ['--username=postgres', `--pwfile=${secret}`, '--auth=scram-sha-256']
    // Few rounds: a connection is then as cheap as without a password.
    const rest = ['--no-sync', '--no-locale', '--encoding=UTF8', '--no-instructions', '-c', 'scram_iterations=10']
    const command = [path.join(this.bin, 'initdb'), '-D', this.data, ...access, ...rest]
    const hasEnded = this.nextEnd()
    this.watcher.stdin.write(`${command.map(quoted).join(' ')}\n`)
    await this.until(hasEnded, 'is not initialised')
    rmSync(secret)
    if (this.codes.at(-1) !== 0) throw this.failed('is not initialised')
  }

  private async startAt(port: number): Promise<boolean> {
    const { fsync = true, maxConnections = 100, settings = {} } = this.options
    const all = {
      listen_addresses: '127.0.0.1',
      port,
      unix_socket_directories: this.directory,
      max_connections: maxConnections,
      fsync: fsync ? 'on' : 'off',
      log_line_prefix: '%m [%p] ',
      ...settings,
    }
    const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const command = [path.join(this.bin, 'postgres'), '-D', this.data, ...flags]
    // The shell's pid is the server's, since it becomes the server.
    const script = `echo $$ >${quoted(path.join(this.directory, 'pid'))}; exec ${command.map(quoted).join(' ')}`
    const hasEnded = this.nextEnd()
    this.hasEnded = hasEnded
    this.watcher.stdin.write(`sh -c ${quoted(script)}\n`)
    await this.until(() => hasEnded() || this.readyPid() !== undefined, 'does not start')
    this.pid = this.readyPid()
    return this.pid !== undefined
  }

  /** As `pg_ctl` finds it out: the eighth line of the lock file says so; another word of a replica. An old file has another pid. */
  private readyPid(): number | undefined {
    try {
      const pid = Number(readFileSync(path.join(this.directory, 'pid'), 'utf8'))
      const lines = readFileSync(path.join(this.data, 'postmaster.pid'), 'utf8').split('\n')
      return Number(lines[0]) === pid && /^(ready|standby)$/.test(lines[7]?.trim() ?? '') ? pid : undefined
    } catch {
      return undefined
    }
  }

  private async until(holds: () => boolean, what: string): Promise<void> {
    const endMs = performance.now() + MAX_WAIT_MS
    while (!holds()) {
      if (performance.now() > endMs) throw this.failed(what)
      if (this.isGone) throw this.failed('is not watched any more')
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }

  private failed(what: string): Error {
    let log = 'without a log'
    try {
      log = this.log.slice(-2000)
    } catch {
      // Not even that.
    }
    return new Error(`PostgreSQL in ${this.directory} ${what}:\n${log}`)
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
