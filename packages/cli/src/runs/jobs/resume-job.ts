/** `reprise resume JOB`: starts the worker groups of a job again. Imports the jobs package. */
import type { CommandContext } from '../../command-context.js'
import type { ProgramExitCode } from '../../exit-codes.js'
import { executeJob } from './execute-job.js'
import { keptGroups } from './local-groups.js'
import { withJobs } from './with-jobs.js'

export async function resumeJob(id: string, context: CommandContext): Promise<ProgramExitCode> {
  return withJobs(context, async (jobs) => {
    const { targets } = await jobs.status(id)
    return executeJob(jobs, id, targets, keptGroups(id, context), context)
  })
}
