/** `reprise gate`: serves the HTTP API of jobs until it is stopped. Imports the jobs package, and the server when it is called. */
import type { GateOptions, openGate } from '@reprise/dashboard'
import type { Jobs, OperatorSettings } from '@reprise/jobs'
import { openJobsWith, OPERATOR_VARIABLES } from '@reprise/jobs/internal'
import { isRepriseError, type OptionProblem } from 'reprise'
import { plainText } from 'reprise/internal'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { EXIT, type ProgramExitCode } from '../exit-codes.js'
import { UsageError } from '../failures.js'
import { metricsAddress, type MetricsServer, serveJobMetrics } from '../runs/metrics-port.js'
import { expectOperatorSettings, prepareStore } from '../runs/jobs/with-jobs.js'
import { untilAborted, withSignals } from '../runs/signals.js'
import { ownVersion } from '../version.js'
import type { Output } from '../process-io.js'
import { durationOf } from './ps.js'

type Options = {
  readonly port?: string
  readonly host?: string
  readonly publicUrl?: string
  readonly socket?: string
  readonly tokens?: string
  readonly token?: false
  readonly allowChanges?: true
  readonly retention?: string
  readonly metricsPort?: string
}

export async function run(
  { options }: ParsedArguments<object, Options>,
  { io, settings }: CommandContext,
): Promise<ProgramExitCode> {
  const metricsAt = metricsAddress(options.metricsPort)
  const retentionMs = options.retention === undefined ? undefined : durationOf(options.retention, '--retention')
  const { open, how } = await gateOf(options)
  expectOperatorSettings(io.env)
  await prepareStore(settings.store)
  const say = (line: string): void => {
    if (!settings.quiet) io.stderr.write(`${line}\n`)
  }
  const words = {
    onFirst: () => say('Stopping: requests that are being answered end. Press Ctrl-C again to stop at once.'),
    onSecond: () => say('Stopped at once.'),
  }
  return withSignals(async (stop) => {
    const kept = retentionMs === undefined ? {} : { retention: retentionMs }
    const jobs = await asUsage(() => openJobsWith(settings.store, { env: io.env, ...kept }, { role: 'gate' }))
    let metrics: MetricsServer | undefined
    try {
      metrics = metricsAt && (await serveJobMetrics(jobs, metricsAt))
      await writeOwnSettings(jobs, io.env, say)
      const serving = { ...how, version: ownVersion(), onFault: tellOnce(io.stderr) }
      const gate = await asUsage(() => open(jobs, serving))
      // Whoever reads the output may act: it is said once, and only where no file has tokens.
      if (gate.token !== undefined) io.stderr.write(`Token: ${gate.token}\n`)
      if (metrics !== undefined) say(`Metrics at ${metrics.url}`)
      say(`Gate at ${gate.url}. Stop with Ctrl-C.`)
      await untilAborted(stop.signal)
      await gate.close()
      return stop.code() ?? EXIT.done
    } finally {
      await metrics?.close()
      await jobs.close()
    }
  }, words)
}

type OpenGate = typeof openGate

/** The server is loaded here, and by no other command. */
async function gateOf(options: Options): Promise<{ readonly open: OpenGate; readonly how: GateOptions }> {
  const { port, host, publicUrl, socket, tokens, token, allowChanges } = options
  if (tokens !== undefined && token === false)
    throw new UsageError('--tokens and --no-token contradict each other', 'give one of them')
  const { openGate: open } = await import('@reprise/dashboard')
  const { checkedGate } = await import('@reprise/dashboard/internal')
  const how = {
    ...(port !== undefined && { port: portOf(port) }),
    ...(host !== undefined && { host }),
    ...(publicUrl !== undefined && { publicUrl }),
    ...(socket !== undefined && { socket }),
    ...(tokens !== undefined && { tokens }),
    ...(token === false && { tokens: false as const }),
    ...(allowChanges === true && { allowChanges }),
  }
  // Before there is a store.
  await asUsage(async () => checkedGate(how))
  return { open, how }
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port <= 65_535) return port
  throw new UsageError(`--port ${text} is no port`, 'such as 7718, or 0 for any that is free')
}

/** In the words of flags: `publicUrl` is `--public-url`. */
async function asUsage<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open()
  } catch (error) {
    const { ListenError } = await import('@reprise/dashboard/internal')
    if (error instanceof ListenError)
      throw new UsageError(`The gate cannot listen: ${error.message}`, 'give another --port or --socket')
    if (!isRepriseError(error, 'invalid_options')) throw error
    const [first] = error.problems
    throw new UsageError(error.problems.map(flagWords).join('; '), first?.suggestion)
  }
}

function flagWords({ path, message }: OptionProblem): string {
  const isVariable = /^[A-Z]/.test(path)
  const flag = isVariable ? path : `--${path.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  return `${flag} ${message}`
}

/** Limits that are set where the gate runs hold for every submitter from now on, also for one without a gate. */
async function writeOwnSettings(
  jobs: Jobs,
  env: Readonly<Record<string, string | undefined>>,
  say: (line: string) => void,
): Promise<void> {
  if (OPERATOR_VARIABLES.every((name) => (env[name] ?? '').trim() === '')) return
  const before = await jobs.settings()
  const after = await jobs.writeSettings()
  if (before !== undefined && isSame(before, after)) return
  say('Wrote the limits for jobs of this environment into the store: see `reprise job settings`.')
}

function isSame(a: OperatorSettings, b: OperatorSettings): boolean {
  return Object.entries(a).every(([name, value]) => b[name as keyof OperatorSettings] === value)
}

/** A store that is away is a fault of every request. */
const SAME_FAULT_MS = 10_000

/** A fault that goes on is said now and then. */
function tellOnce(stderr: Output): (text: string) => void {
  let said = { text: '', atMs: -Infinity }
  return (text) => {
    const atMs = performance.now()
    if (text === said.text && atMs - said.atMs < SAME_FAULT_MS) return
    said = { text, atMs }
    stderr.write(`fault: ${plainText(text, 1000)}\n`)
  }
}
