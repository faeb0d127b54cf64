/** `reprise worker --datacenter NAME`: runs workflows of jobs until it is stopped. Imports the jobs package. */
import { statSync } from 'node:fs'
import path from 'node:path'
import { openJobs } from '@reprise/jobs'
import { DATACENTER_WORDS, isDatacenterName } from '@reprise/jobs/internal'
import { plainText } from 'reprise/internal'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { EXIT, type ProgramExitCode } from '../exit-codes.js'
import { UsageError } from '../failures.js'
import { countOf } from '../input/count-flag.js'
import { USUAL_SLOTS } from '../runs/jobs/local-groups.js'
import { metricsAddress, type MetricsServer, serveJobMetrics } from '../runs/metrics-port.js'
import { expectOperatorSettings, prepareStore } from '../runs/jobs/with-jobs.js'
import { untilAborted, withSignals } from '../runs/signals.js'
import { ownVersion } from '../version.js'
import { durationOf } from './ps.js'

type Options = {
  readonly datacenter?: string
  readonly slots?: string
  readonly lease?: string
  readonly dir?: string
  readonly metricsPort?: string
}

export async function run(
  { options }: ParsedArguments<object, Options>,
  { io, settings }: CommandContext,
): Promise<ProgramExitCode> {
  const datacenter = datacenterOf(options.datacenter)
  const slots = countOf('--slots', options.slots) ?? USUAL_SLOTS
  const leaseMs = leaseOf(options.lease)
  const dir = directoryOf(options.dir)
  const metricsAt = metricsAddress(options.metricsPort)
  expectOperatorSettings(io.env)
  await prepareStore(settings.store)
  const say = (line: string): void => {
    if (!settings.quiet) io.stderr.write(`${line}\n`)
  }
  const words = {
    onFirst: () => say('Stopping: running workflows end, and no other is claimed. Press Ctrl-C again to stop at once.'),
    onSecond: () => say('Stopped at once: other workers take over.'),
  }
  return withSignals(async (stop) => {
    const jobs = await openJobs(settings.store, { env: io.env, ...(leaseMs !== undefined && { lease: leaseMs }) })
    let metrics: MetricsServer | undefined
    const failed = new AbortController()
    try {
      // Before anything is claimed: a port that is in use ends the command.
      metrics = metricsAt && (await serveJobMetrics(jobs, metricsAt))
      const worker = await jobs.work({
        datacenter,
        slots,
        dir,
        env: io.env,
        version: ownVersion(),
        onNote: ({ message }) => say(plainText(message)),
        onFailure: (error) => failed.abort(error),
        ...(leaseMs !== undefined && { lease: leaseMs }),
      })
      say(`Working for ${plainText(datacenter)}: ${slots} at a time. Stop with Ctrl-C.`)
      if (metrics !== undefined) say(`Metrics at ${metrics.url}`)
      await untilAborted(AbortSignal.any([stop.signal, failed.signal]))
      failed.signal.throwIfAborted()
      await worker.drain()
      return stop.code() ?? EXIT.done
    } finally {
      await metrics?.close()
      await jobs.close()
    }
  }, words)
}

function datacenterOf(name: string | undefined): string {
  if (name === undefined) throw new UsageError('a worker belongs to a datacenter', 'name it: --datacenter eu')
  if (!isDatacenterName(name)) throw new UsageError(`--datacenter ${plainText(name)} is not ${DATACENTER_WORDS}`)
  return name
}

function leaseOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const leaseMs = durationOf(text, '--lease')
  if (leaseMs >= 100 && leaseMs <= 86_400_000) return leaseMs
  throw new UsageError(`--lease ${plainText(text)} is not from 100ms to 1d`, 'such as 15s')
}

/** Without it every workflow would be refused, and charged for that. */
function directoryOf(dir = '.'): string {
  const directory = path.resolve(dir)
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return directory
  throw new UsageError(`--dir ${plainText(dir)} is no directory`, 'name the one in which commands run')
}
