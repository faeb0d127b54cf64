/** `reprise resume JOB`: starts the worker groups of a job again. Imports the jobs package and output. */
import type { Jobs, JobStatus } from '@reprise/jobs'
import { datacentersOfJob } from '@reprise/jobs/internal'
import { plainText } from 'reprise/internal'
import type { CommandContext } from '../../command-context.js'
import { EXIT, type ProgramExitCode } from '../../exit-codes.js'
import { RefusedError } from '../../failures.js'
import { writePage } from '../../output/github-commands.js'
import { jobPage } from '../../output/jobs/job-page.js'
import { writeJson } from '../../output/json.js'
import { displayFor } from '../../output/display.js'
import { executeJob } from './execute-job.js'
import { isBegunHere, keptGroups } from './local-groups.js'
import { withJobs } from './with-jobs.js'

export async function resumeJob(id: string, context: CommandContext): Promise<ProgramExitCode> {
  return withStanding(id, context, (jobs, { targets }) =>
    executeJob(jobs, id, targets, keptGroups(id, context), context),
  )
}

/** `--dry-run`: the job as it stands, and where workers would be started. */
export async function previewJob(id: string, context: CommandContext): Promise<ProgramExitCode> {
  const { io, settings } = context
  return withStanding(id, context, async (_jobs, status) => {
    if (settings.json) {
      writeJson(io.stdout, status)
      return EXIT.done
    }
    const would =
      status.state === 'completed'
        ? 'It has completed: a resume shows the result and starts nothing.'
        : `A resume starts workers for ${status.targets.map((name) => plainText(name)).join(', ')} in this process.`
    writePage(io, `${[...jobPage(status, Date.now(), displayFor(io, settings)), '', would].join('\n')}\n`)
    return EXIT.done
  })
}

/** Refuses a job that other workers execute: they may be at places that this machine is not. */
async function withStanding<T>(
  id: string,
  context: CommandContext,
  act: (jobs: Jobs, status: JobStatus) => Promise<T>,
): Promise<T> {
  const find = async (jobs: Jobs): Promise<T> => {
    const status = await jobs.status(id)
    if (status.state === 'running' && !isBegunHere(id, context)) throw notBegunHere(status)
    return act(jobs, status)
  }
  return withJobs(context, find, { worksFor: (ledger) => datacentersOfJob(ledger, id) })
}

function notBegunHere(status: JobStatus): RefusedError {
  return new RefusedError({
    kind: 'not_possible',
    message: `Job ${status.id} was submitted to workers, and not begun by \`job run\` here: they continue it by themselves.`,
    next: commandsFor(status),
  })
}

/** Commands to type: a worker for each datacenter that has work and no worker, and how to see the end. */
export function commandsFor({ id, datacenters }: JobStatus): readonly (readonly string[])[] {
  const waiting = datacenters.filter(({ state, workers }) => state !== 'completed' && workers === 0)
  return [...waiting.map(({ name }) => ['worker', '--datacenter', name]), ['job', 'wait', id]]
}
