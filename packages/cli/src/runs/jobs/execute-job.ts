/** Executes a job with local worker groups until it has completed, or until a person stops it. Imports the jobs package. */
import type { Jobs } from '@reprise/jobs'
import { exitCodeOf, operationsOf } from '@reprise/jobs/internal'
import type { CommandContext } from '../../command-context.js'
import { EXIT, type ProgramExitCode } from '../../exit-codes.js'
import { commandWords } from '../../output/next-commands.js'
import { tellResult } from './tell-result.js'
import { withSignals } from '../signals.js'
import { followJob, type WatchControl } from './follow-job.js'
import { LOOK_EVERY_MS } from './with-operations.js'
import { type GroupSettings, startGroups } from './local-groups.js'

export async function executeJob(
  jobs: Jobs,
  id: string,
  datacenters: readonly string[],
  groups: GroupSettings,
  context: CommandContext,
): Promise<ProgramExitCode> {
  const { io, settings } = context
  const say = (line: string): void => {
    if (!settings.quiet) io.stderr.write(`${line}\n`)
  }
  const resume = `Resume with: ${commandWords(settings, io.env)(['resume', id])}`
  const words = {
    onFirst: () => say('Stopping: the running workflows are stopped, and run again after a resume.'),
    onSecond: () => say(`Stopped at once. ${resume}`),
    onLoss: () => say(`The output was closed: stopping. ${resume}`),
  }
  return withSignals(async (stop) => {
    // Of a job that has completed only the result is shown: workers would claim what waits of other jobs.
    const { state } = await jobs.status(id)
    const workers = state === 'completed' ? [] : await startGroups(jobs, datacenters, groups, context)
    try {
      const access = { waiting: operationsOf(jobs), caller: { by: '' }, lookEveryMs: LOOK_EVERY_MS }
      const result = await followJob(access, id, lookerFor(stop.signal), context)
      if (result !== undefined) {
        tellResult(result, context)
        return exitCodeOf(result)
      }
    } finally {
      await Promise.all(workers.map((worker) => worker.close()))
    }
    say(`Stopped: the state is saved. ${resume}`)
    return stop.code() ?? EXIT.terminated
  }, words)
}

function lookerFor(signal: AbortSignal): WatchControl {
  return {
    signal,
    wait: (ms) =>
      new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(timer)
          signal.removeEventListener('abort', end)
          resolve()
        }
        const timer = setTimeout(end, ms)
        signal.addEventListener('abort', end, { once: true })
      }),
  }
}
