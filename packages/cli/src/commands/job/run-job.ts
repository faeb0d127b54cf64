/** `reprise job run FILE`: a job on this machine, with the datacenters as local worker groups. Imports the jobs package. */
import type { Jobs } from '@reprise/jobs'
import { type JobFile, readJobFile } from '@reprise/jobs/internal'
import type { ParsedArguments } from '../../command.js'
import type { CommandContext } from '../../command-context.js'
import type { ProgramExitCode } from '../../exit-codes.js'
import { UsageError } from '../../failures.js'
import { countOf } from '../../input/count-flag.js'
import { openSource } from '../../input/open-source.js'
import { writeNotes } from '../../output/problems.js'
import { executeJob } from '../../runs/jobs/execute-job.js'
import { actorOf } from '../../runs/actor.js'
import { keepGroups, USUAL_SLOTS } from '../../runs/jobs/local-groups.js'
import { asUsage, withNewJobs } from '../../runs/jobs/with-jobs.js'
import { withId } from './submit.js'

type Options = { readonly jobId?: string; readonly slots?: string }

export async function run(
  { values: { file: name }, options }: ParsedArguments<{ readonly file: string }, Options>,
  context: CommandContext,
): Promise<ProgramExitCode> {
  const slots = countOf('--slots', options.slots) ?? USUAL_SLOTS
  const file = await readJobFile(await openSource(name, context))
  expectDocuments(file)
  writeNotes(file.file, file.notes, context)
  const { datacenters } = file.request
  const execute = async (jobs: Jobs): Promise<ProgramExitCode> => {
    const how = { isEmbedded: true, by: actorOf(undefined).by ?? '' }
    const job = await asUsage(jobs.submit(withId(file.submission, options.jobId), how))
    const groups = { directory: file.directory, slots }
    keepGroups(job.id, groups, context)
    return executeJob(jobs, job.id, datacenters, groups, context)
  }
  return withNewJobs(context, execute, { worksFor: async () => datacenters })
}

/** A function of a program cannot be called from here. */
function expectDocuments({ request }: JobFile): void {
  const handled = request.workflows.filter(({ source }) => source.kind === 'handler').map(({ name }) => name)
  if (handled.length === 0) return
  throw new UsageError(
    `${handled.join(', ')}: a handler is a function of a program, and there is none here`,
    'submit the job to workers that have registered it, or give it a `file`',
  )
}
