/** `reprise job status`, `wait`, `result` and `list`. Imports the jobs package and output. */
import { exitCodeOf } from '@reprise/jobs/internal'
import type { CommandModule, ParsedArguments } from '../../command.js'
import type { CommandContext } from '../../command-context.js'
import { EXIT, type ExitCode } from '../../exit-codes.js'
import { RefusedError, UsageError } from '../../failures.js'
import { countOf } from '../../input/count-flag.js'
import { writePage } from '../../output/github-commands.js'
import { jobPage, jobsTable } from '../../output/jobs/job-page.js'
import { writeJson } from '../../output/json.js'
import { displayFor } from '../../output/display.js'
import { followJob } from '../../runs/jobs/follow-job.js'
import { tellResult } from '../../runs/jobs/tell-result.js'
import { type GateFlags, type JobAccess, withJob, withOperations } from '../../runs/jobs/with-operations.js'
import { untilSignal } from '../../runs/until-signal.js'

type Given = ParsedArguments<{ readonly job: string }, GateFlags & { readonly watch?: boolean }>

export const status: CommandModule = {
  run: async (given, context) => {
    const { values, options } = given as unknown as Given
    const { io, settings } = context
    if (options.watch !== true && settings.ndjson) {
      throw new UsageError('job status prints one state', 'use --json, or --watch --ndjson for events')
    }
    if (options.watch === true && settings.json) {
      throw new UsageError('--watch goes on for as long as the job does', 'use --ndjson, or job wait --json')
    }
    return withOperations(context, options, async (access) => {
      const found = await withJob(access, values.job, (id) => access.jobs.showJob({ id }, access.caller))
      if (options.watch === true) return follow(access, found.id, context)
      if (settings.json) writeJson(io.stdout, found)
      else writePage(io, `${jobPage(found, Date.now(), displayFor(io, settings)).join('\n')}\n`)
      return EXIT.done
    })
  },
}

export const wait: CommandModule = {
  run: async (given, context) => {
    const { values, options } = given as unknown as Given
    return withOperations(context, options, (access) =>
      withJob(access, values.job, (id) => follow(access, id, context)),
    )
  },
}

/** Ctrl-C ends the looking, and nothing else. */
async function follow(access: JobAccess, id: string, context: CommandContext): Promise<ExitCode> {
  const looking = untilSignal()
  try {
    const found = await followJob(access, id, looking, context)
    if (found === undefined) return EXIT.interrupted
    tellResult(found, context)
    return exitCodeOf(found)
  } finally {
    looking.end()
  }
}

export const result: CommandModule = {
  run: async (given, context) => {
    const { values, options } = given as unknown as Given
    return withOperations(context, options, async (access) => {
      const { id, found } = await withJob(access, values.job, async (one) => ({
        id: one,
        found: await access.jobs.jobResult({ id: one }, access.caller),
      }))
      if (found === null) {
        const message = `Job ${id} has not completed`
        const next = [
          ['job', 'wait', id, ...access.where],
          ['job', 'status', id, ...access.where],
        ]
        throw new RefusedError({ kind: 'not_possible', message, next })
      }
      tellResult(found, context)
      return exitCodeOf(found)
    })
  },
}

type ListOptions = GateFlags & {
  readonly state?: 'running' | 'completed'
  readonly limit?: string
  readonly cursor?: string
}

export const list: CommandModule = {
  run: async (given, context) => {
    const { options } = given as unknown as ParsedArguments<object, ListOptions>
    const { state, cursor } = options
    const limit = countOf('--limit', options.limit)
    const { io, settings } = context
    const wanted = { ...(state !== undefined && { state }), ...(cursor !== undefined && { cursor }) }
    return withOperations(context, options, async ({ jobs, caller }) => {
      const found = await jobs.listJobs({ ...wanted, ...(limit !== undefined && { limit }) }, caller)
      if (settings.json) writeJson(io.stdout, found)
      else writePage(io, `${jobsTable(found.jobs, Date.now(), displayFor(io, settings)).join('\n')}\n`)
    })
  },
}
