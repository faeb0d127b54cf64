/** `reprise job submit FILE`: submits a job to the workers that share the store. Imports the jobs package. */
import { exitCodeOf, newJobId, readJobFile } from '@reprise/jobs/internal'
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
import { asUsage } from '../../runs/jobs/with-jobs.js'
import { type GateFlags, type JobAccess, withOperations } from '../../runs/jobs/with-operations.js'
import { untilSignal } from '../../runs/until-signal.js'

type Options = GateFlags & { readonly jobId?: string; readonly wait?: boolean }

export async function run(
  { values: { file: name }, options }: ParsedArguments<{ readonly file: string }, Options>,
  context: CommandContext,
): Promise<ProgramExitCode> {
  const { io, settings } = context
  const file = await readJobFile(await openSource(name, context))
  writeNotes(file.file, file.notes, context)
  const submit = async (access: JobAccess): Promise<ProgramExitCode> => {
    const { jobs, caller } = access
    const job = identified(withId(file.submission, options.jobId))
    const submitted = await asUsage(jobs.submitJob({ job }, caller))
    if (!settings.quiet)
      for (const { sentence } of submitted.clamps) io.stderr.write(`changed: ${plainText(sentence)}\n`)
    if (options.wait === true) return waitFor(access, submitted.job, context)
    if (settings.json) writeJson(io.stdout, submitted)
    else io.stdout.write(`${plainText(submitted.job)}\n`)
    return EXIT.done
  }
  return withOperations(context, options, submit, { mayBeNew: true })
}

async function waitFor(access: JobAccess, id: string, context: CommandContext): Promise<ProgramExitCode> {
  const looking = untilSignal()
  try {
    const result = await followJob(access, id, looking, context)
    if (result === undefined) return EXIT.interrupted
    tellResult(result, context)
    return exitCodeOf(result)
  } finally {
    looking.end()
  }
}

/** A job that is submitted again, since the answer was lost, is the same job. */
function identified(submission: Readonly<Record<string, Json>>): Readonly<Record<string, Json>> {
  const { job_id: id, idempotency_key: key, name } = submission
  if (id !== undefined || key !== undefined) return submission
  return { ...submission, job_id: newJobId(typeof name === 'string' ? name : 'job') }
}

/** The flag stands over the file. */
export function withId(
  submission: Readonly<Record<string, Json>>,
  id: string | undefined,
): Readonly<Record<string, Json>> {
  return id === undefined ? submission : { ...submission, job_id: id }
}
