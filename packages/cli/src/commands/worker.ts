/** `reprise worker --datacenter NAME`: runs workflows of jobs until it is stopped. Imports the jobs package. */
import path from 'node:path'
import { openJobs } from '@reprise/jobs'
import { plainText } from 'reprise/internal'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { EXIT, type ProgramExitCode } from '../exit-codes.js'
import { UsageError } from '../failures.js'
import { countOf } from '../input/count-flag.js'
import { USUAL_SLOTS } from '../runs/jobs/local-groups.js'
import { prepareStore } from '../runs/jobs/with-jobs.js'
import { withSignals } from '../runs/signals.js'
import { ownVersion } from '../version.js'
import { durationOf } from './ps.js'

type Options = {
  readonly datacenter?: string
  readonly slots?: string
  readonly lease?: string
  readonly dir?: string
}

export async function run(
  { options }: ParsedArguments<object, Options>,
  { world, settings }: CommandContext,
): Promise<ProgramExitCode> {
  const { datacenter, lease } = options
  if (datacenter === undefined) throw new UsageError('a worker belongs to a datacenter', 'name it: --datacenter eu')
  const slots = countOf('--slots', options.slots) ?? USUAL_SLOTS
  const leaseMs = lease === undefined ? undefined : durationOf(lease, '--lease')
  prepareStore(settings.store)
  const say = (line: string): void => {
    if (!settings.quiet) world.stderr.write(`${line}\n`)
  }
  const words = {
    onFirst: () => say('Stopping: running workflows end, and no other is claimed. Press Ctrl-C again to stop at once.'),
    onSecond: () => say('Stopped at once: other workers take over.'),
  }
  return withSignals(async (stop) => {
    const jobs = await openJobs(settings.store, { env: world.env, ...(leaseMs !== undefined && { lease: leaseMs }) })
    try {
      const worker = await jobs.work({
        datacenter,
        slots,
        dir: path.resolve(options.dir ?? '.'),
        env: world.env,
        version: ownVersion(),
        ...(leaseMs !== undefined && { lease: leaseMs }),
      })
      say(`Working for ${plainText(datacenter)}: ${slots} at a time. Stop with Ctrl-C.`)
      await untilAborted(stop.signal)
      await worker.drain()
      return stop.code() ?? EXIT.done
    } finally {
      await jobs.close()
    }
  }, words)
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
