/** `reprise datacenters`: lists datacenters, and takes one out of service. Imports the jobs package and output. */
import { plainText } from 'reprise/internal'
import type { CommandModule, ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { EXIT, type ExitCode } from '../exit-codes.js'
import { writePage } from '../output/github-commands.js'
import { datacentersTable } from '../output/jobs/datacenters-table.js'
import { writeJson } from '../output/json.js'
import { lookFor } from '../output/look.js'
import { withJobs } from '../runs/jobs/with-jobs.js'

export async function run(_given: ParsedArguments, context: CommandContext): Promise<void> {
  const { world, settings } = context
  await withJobs(context, async (jobs) => {
    const datacenters = await jobs.datacenters()
    if (settings.json) writeJson(world.stdout, { datacenters })
    else writePage(world, `${datacentersTable(datacenters, Date.now(), lookFor(world, settings)).join('\n')}\n`)
  })
}

type Given = ParsedArguments<{ readonly name: string }, { readonly reason?: string }>

export const disable: CommandModule = {
  run: (given, context) => {
    const { values, options } = given as unknown as Given
    return change(values.name, options.reason ?? 'disabled by hand', context)
  },
}

export const enable: CommandModule = {
  run: (given, context) => change((given as unknown as Given).values.name, null, context),
}

async function change(name: string, reason: string | null, context: CommandContext): Promise<ExitCode> {
  const { world, settings } = context
  await withJobs(context, (jobs) => jobs.disable(name, reason))
  if (settings.json) writeJson(world.stdout, { datacenter: name, disabled: reason })
  else world.stdout.write(`${plainText(name)} is ${reason === null ? 'enabled' : 'disabled'}\n`)
  return EXIT.done
}
