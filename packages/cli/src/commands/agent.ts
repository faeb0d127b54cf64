/** `reprise agent RUN`: runs items of a run that another process conducts. Imports the library, the workflow package and output. */
import path from 'node:path'
import {
  type AgentEnd,
  type AgentEvent,
  expectKept,
  prepareAgent,
  serveAsAgent,
  stateDirectoryOf,
  withLedger,
} from '@reprise/workflow/internal'
import { createMetrics, prometheus } from 'reprise/observe'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { EXIT, type ProgramExitCode } from '../exit-codes.js'
import { countOf } from '../input/count-flag.js'
import { AgentLines } from '../output/agent-lines.js'
import { writeJson, writeJsonLine } from '../output/json.js'
import { commandWords } from '../output/next-commands.js'
import { definedOf } from '../runs/defined-variables.js'
import { metricsAddress, type MetricsServer, serveMetrics } from '../runs/metrics-port.js'
import { withSignals } from '../runs/signals.js'
import { durationOf } from './ps.js'

type Options = {
  readonly parallel?: string
  readonly cwd?: string
  readonly lease?: string
  readonly metricsPort?: string
}

/** As many as a map runs at a time unless its file says otherwise. */
const USUAL_PARALLEL = 8

export async function run(
  { values, options }: ParsedArguments<{ readonly run: string }, Options>,
  context: CommandContext,
): Promise<ProgramExitCode> {
  const { io, settings } = context
  const parallel = countOf('--parallel', options.parallel) ?? USUAL_PARALLEL
  const leaseMs = options.lease === undefined ? undefined : durationOf(options.lease, '--lease')
  const metricsAt = metricsAddress(options.metricsPort)
  expectKept(settings.store)
  const cwd = options.cwd === undefined ? {} : { cwd: path.resolve(options.cwd) }
  const here = { env: definedOf(io.env), ...cwd }
  const servable = await withLedger(settings.store, (ledger) => prepareAgent(ledger, values.run, here))
  const lines = new AgentLines({ display: settings, command: commandWords(settings, io.env) })
  const say = (line: string): void => {
    if (!settings.quiet) io.stderr.write(`${line}\n`)
  }
  const listener = (event: AgentEvent): void => {
    if (settings.ndjson) writeJsonLine(io.stdout, event)
    else for (const line of lines.linesOf(event)) say(line)
  }
  const words = {
    onFirst: () =>
      say('Stopping: running items are interrupted, and go back to the map. Press Ctrl-C again to stop at once.'),
    onSecond: () => say('Stopped at once: other processes take the items over.'),
  }
  return withSignals(async (stop) => {
    const metrics = metricsAt && createMetrics()
    let server: MetricsServer | undefined
    let end: AgentEnd
    try {
      // Before anything is claimed: a port that is in use ends the command.
      server = metricsAt && metrics && (await serveMetrics(async () => prometheus(metrics), metricsAt))
      if (server !== undefined) say(`Metrics at ${server.url}`)
      end = await serveAsAgent(servable, {
        ...here,
        store: settings.store,
        stateDirectory: stateDirectoryOf(settings.store),
        parallel,
        listener,
        signal: stop.signal,
        ...(leaseMs !== undefined && { lease: leaseMs }),
        ...(metrics && { observer: metrics }),
      })
    } finally {
      await server?.close()
    }
    if (settings.json) writeJson(io.stdout, { run: servable.record.id, ...end })
    return (end.reason === 'stopped' ? stop.code() : undefined) ?? EXIT.done
  }, words)
}
