/** `reprise job cancel`, `retry` and `settings`. Imports the jobs package and output. */
import type { OperatorSettings } from '@reprise/jobs'
import { readOperatorSettings, stricterOf } from '@reprise/jobs/internal'
import { ifKept } from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import type { CommandModule, ParsedArguments } from '../../command.js'
import { EXIT } from '../../exit-codes.js'
import { writePage } from '../../output/github-commands.js'
import { writeJson } from '../../output/json.js'
import { alignTable } from '../../output/table.js'
import { findJob, withJobs, withNewJobs } from '../../runs/jobs/with-jobs.js'

type Given = ParsedArguments<
  { readonly job: string },
  { readonly failed?: boolean; readonly datacenter?: string; readonly write?: boolean }
>

export const cancel: CommandModule = {
  run: async (given, context) => {
    const { world, settings: flags } = context
    return withJobs(context, async (jobs) => {
      const job = await findJob(jobs, (given as unknown as Given).values.job)
      const answer = await job.cancel()
      if (flags.json) writeJson(world.stdout, { job: job.id, cancelled: answer === 'cancelled' })
      else {
        const id = plainText(job.id)
        world.stdout.write(answer === 'cancelled' ? `Cancelled ${id}\n` : `${id} has completed already\n`)
      }
      return EXIT.done
    })
  },
}

export const retry: CommandModule = {
  run: async (given, context) => {
    const { values, options } = given as unknown as Given
    const { world, settings: flags } = context
    return withJobs(context, async (jobs) => {
      const job = await findJob(jobs, values.job)
      const { failed = false, datacenter } = options
      await job.retry({ onlyFailed: failed, ...(datacenter !== undefined && { datacenter }) })
      if (flags.json) writeJson(world.stdout, { job: job.id, retried: true })
      else world.stdout.write(`${plainText(job.id)} runs again what did not succeed\n`)
      return EXIT.done
    })
  },
}

export const settings: CommandModule = {
  run: async (given, context) => {
    const { options } = given as unknown as Given
    const { world, settings: flags } = context
    const environment = readOperatorSettings(world.env)
    const written = options.write === true ? await withNewJobs(context, (jobs) => jobs.writeSettings()) : undefined
    const kept = (): Promise<OperatorSettings | undefined> => withJobs(context, (jobs) => jobs.settings())
    const store = written ?? (await ifKept(flags.store, kept)) ?? null
    const effective = store === null ? environment : stricterOf(environment, store)
    if (flags.json) writeJson(world.stdout, { environment, store, effective })
    else writePage(world, `${settingsLines(environment, store, effective).join('\n')}\n`)
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
