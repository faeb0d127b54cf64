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
import { lookFor } from '../../output/look.js'
import { followJob } from '../../runs/jobs/follow-job.js'
import { tellResult } from '../../runs/jobs/tell-result.js'
import { findJob, withJobs } from '../../runs/jobs/with-jobs.js'
import { untilSignal } from '../../runs/until-signal.js'

type Given = ParsedArguments<{ readonly job: string }, { readonly watch?: boolean }>

export const status: CommandModule = {
  run: async (given, context) => {
    const { values, options } = given as unknown as Given
    const { world, settings } = context
    if (options.watch !== true && settings.ndjson) {
      throw new UsageError('job status prints one state', 'use --json, or --watch --ndjson for events')
    }
    if (options.watch === true && settings.json) {
      throw new UsageError('--watch goes on for as long as the job does', 'use --ndjson, or job wait --json')
    }
    return withJobs(context, async (jobs) => {
      const job = await findJob(jobs, values.job)
      if (options.watch === true) return follow(jobs, job.id, context)
      const found = await job.status()
      if (settings.json) writeJson(world.stdout, found)
      else writePage(world, `${jobPage(found, Date.now(), lookFor(world, settings)).join('\n')}\n`)
      return EXIT.done
    })
  },
}

export const wait: CommandModule = {
  run: async (given, context) => {
    const { values } = given as unknown as Given
    return withJobs(context, async (jobs) => follow(jobs, (await findJob(jobs, values.job)).id, context))
  },
}

/** Ctrl-C ends the looking, and nothing else. */
async function follow(jobs: Parameters<typeof followJob>[0], id: string, context: CommandContext): Promise<ExitCode> {
  const looking = untilSignal()
  try {
    const found = await followJob(jobs, id, looking, context)
    if (found === undefined) return EXIT.interrupted
    tellResult(found, context)
    return exitCodeOf(found)
  } finally {
    looking.end()
  }
}

export const result: CommandModule = {
  run: async (given, context) => {
    const { values } = given as unknown as Given
    return withJobs(context, async (jobs) => {
      const { id } = await findJob(jobs, values.job)
      const found = await jobs.result(id)
      if (found === undefined) {
        const message = `Job ${id} has not completed`
        const next = [
          ['job', 'wait', id],
          ['job', 'status', id],
        ]
        throw new RefusedError({ kind: 'not_possible', message, next })
      }
      tellResult(found, context)
      return exitCodeOf(found)
    })
  },
}

type ListOptions = { readonly state?: 'running' | 'completed'; readonly limit?: string }

export const list: CommandModule = {
  run: async (given, context) => {
    const { state, limit: text } = (given as unknown as ParsedArguments<object, ListOptions>).options
    const limit = countOf('--limit', text)
    const { world, settings } = context
    return withJobs(context, async (jobs) => {
      const found = await jobs.list({ ...(state !== undefined && { state }), ...(limit !== undefined && { limit }) })
      if (settings.json) writeJson(world.stdout, { jobs: found })
      else writePage(world, `${jobsTable(found, Date.now(), lookFor(world, settings)).join('\n')}\n`)
    })
  },
}
