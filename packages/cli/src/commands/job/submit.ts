/** `reprise job submit FILE`: submits a job to the workers that share the store. Imports the jobs package. */
import { exitCodeOf, readJobFile } from '@reprise/jobs/internal'
import type { Json } from 'reprise/durable'
import { plainText } from 'reprise/internal'
import type { ParsedArguments } from '../../command.js'
import type { CommandContext } from '../../command-context.js'
import { EXIT, type ProgramExitCode } from '../../exit-codes.js'
import { openSource } from '../../input/open-source.js'
import { writeJson } from '../../output/json.js'
import { writeNotes } from '../../output/problems.js'
import { followJob } from '../../runs/jobs/follow-job.js'
import { tellResult } from '../../runs/jobs/tell-result.js'
import { submitTo, withNewJobs } from '../../runs/jobs/with-jobs.js'
import { untilSignal } from '../../runs/until-signal.js'

type Options = { readonly jobId?: string; readonly wait?: boolean }

export async function run(
  { values: { file: name }, options }: ParsedArguments<{ readonly file: string }, Options>,
  context: CommandContext,
): Promise<ProgramExitCode> {
  const { world, settings } = context
  const file = await readJobFile(await openSource(name, context))
  writeNotes(file.file, file.notes, context)
  return withNewJobs(context, async (jobs) => {
    const { id, isNew, settings: effective, clamps } = await submitTo(jobs, withId(file.submission, options.jobId))
    if (!settings.quiet) for (const { sentence } of clamps) world.stderr.write(`changed: ${plainText(sentence)}\n`)
    if (options.wait !== true) {
      if (settings.json) writeJson(world.stdout, { job: id, isNew, settings: effective, clamps })
      else world.stdout.write(`${plainText(id)}\n`)
      return EXIT.done
    }
    const looking = untilSignal()
    try {
      const result = await followJob(jobs, id, looking, context)
      if (result === undefined) return EXIT.interrupted
      tellResult(result, context)
      return exitCodeOf(result)
    } finally {
      looking.end()
    }
  })
}

/** The flag stands over the file. */
export function withId(
  submission: Readonly<Record<string, Json>>,
  id: string | undefined,
): Readonly<Record<string, Json>> {
  return id === undefined ? submission : { ...submission, job_id: id }
}
