/** `reprise job cancel`, `retry` and `settings`. Imports the jobs package and output. */
import type { JobStatus, OperatorSettings } from '@reprise/jobs'
import { stricterOf } from '@reprise/jobs/internal'
import { ifKept } from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import type { CommandModule, ParsedArguments } from '../../command.js'
import type { CommandContext } from '../../command-context.js'
import { EXIT } from '../../exit-codes.js'
import { writePage } from '../../output/github-commands.js'
import { writeJson } from '../../output/json.js'
import { commandWords } from '../../output/next-commands.js'
import { alignTable } from '../../output/table.js'
import { isBegunHere } from '../../runs/jobs/local-groups.js'
import { commandsFor } from '../../runs/jobs/resume-job.js'
import { expectOperatorSettings, withJobs, withNewJobs } from '../../runs/jobs/with-jobs.js'
import { type GateFlags, withJob, withOperations } from '../../runs/jobs/with-operations.js'

type Given = ParsedArguments<
  { readonly job: string },
  GateFlags & { readonly failed?: boolean; readonly datacenter?: string; readonly write?: boolean }
>

export const cancel: CommandModule = {
  run: async (given, context) => {
    const { values, options } = given as unknown as Given
    const { io, settings: flags } = context
    return withOperations(context, options, async (access) => {
      const { jobs, caller } = access
      const answer = await withJob(access, values.job, (id) => jobs.cancelJob({ id }, caller))
      if (flags.json) writeJson(io.stdout, answer)
      else {
        const id = plainText(answer.job)
        io.stdout.write(answer.cancelled ? `Cancelled ${id}\n` : `${id} has completed already\n`)
      }
      return EXIT.done
    })
  },
}

export const retry: CommandModule = {
  run: async (given, context) => {
    const { values, options } = given as unknown as Given
    const { io, settings: flags } = context
    return withOperations(context, {}, async (access) => {
      const { jobs, caller } = access
      const { failed = false, datacenter } = options
      const wanted = { only_failed: failed, ...(datacenter !== undefined && { datacenter }) }
      const answer = await withJob(access, values.job, (id) => jobs.retryJob({ id, ...wanted }, caller))
      if (flags.json) writeJson(io.stdout, answer)
      else {
        io.stdout.write(`${plainText(answer.job)} runs again what did not succeed\n`)
        const status = await jobs.showJob({ id: answer.job }, caller)
        if (!flags.quiet) for (const line of whoRuns(status, context)) io.stderr.write(`${line}\n`)
      }
      return EXIT.done
    })
  },
}

/** Which workers run the retried workflows, and what to type for a datacenter without one. */
function whoRuns(status: JobStatus, context: CommandContext): readonly string[] {
  const words = commandWords(context.settings, context.io.env)
  if (isBegunHere(status.id, context)) return [`next: ${words(['resume', status.id])}`]
  return commandsFor(status).map((command) => `next: ${words(command)}`)
}

export const settings: CommandModule = {
  run: async (given, context) => {
    const { options } = given as unknown as Given
    const { io, settings: flags } = context
    const environment = expectOperatorSettings(io.env)
    const written = options.write === true ? await withNewJobs(context, (jobs) => jobs.writeSettings()) : undefined
    const kept = (): Promise<OperatorSettings | undefined> => withJobs(context, (jobs) => jobs.settings())
    const store = written ?? (await ifKept(flags.store, kept)) ?? null
    const effective = store === null ? environment : stricterOf(environment, store)
    if (flags.json) writeJson(io.stdout, { environment, store, effective })
    else writePage(io, `${settingsLines(environment, store, effective).join('\n')}\n`)
    return EXIT.done
  },
}

function settingsLines(
  environment: OperatorSettings,
  store: OperatorSettings | null,
  effective: OperatorSettings,
): string[] {
  const rows = Object.keys(effective).map((key) => {
    const name = key as keyof OperatorSettings
    return [key, String(environment[name]), store === null ? '-' : String(store[name]), String(effective[name])]
  })
  const titles = ['setting', 'environment', 'store', 'effective']
  return alignTable(
    titles.map((title) => ({ title })),
    rows,
  )
}
