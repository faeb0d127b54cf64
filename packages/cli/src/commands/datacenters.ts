/** `reprise datacenters`: lists datacenters, and takes one out of service. Imports the jobs package and output. */
import { plainText } from 'reprise/internal'
import type { CommandModule, ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { EXIT, type ExitCode } from '../exit-codes.js'
import { writePage } from '../output/github-commands.js'
import { datacentersTable } from '../output/jobs/datacenters-table.js'
import { writeJson } from '../output/json.js'
import { displayFor } from '../output/display.js'
import { actorOf } from '../runs/actor.js'
import { withJobs } from '../runs/jobs/with-jobs.js'

export async function run(_given: ParsedArguments, context: CommandContext): Promise<void> {
  const { io, settings } = context
  await withJobs(context, async (jobs) => {
    const datacenters = await jobs.datacenters()
    if (settings.json) writeJson(io.stdout, { datacenters })
    else writePage(io, `${datacentersTable(datacenters, Date.now(), displayFor(io, settings)).join('\n')}\n`)
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
  const { io, settings } = context
  const { by = '' } = actorOf(undefined)
  await withJobs(context, (jobs) => jobs.disable(name, reason, { by }))
  if (settings.json) writeJson(io.stdout, { datacenter: name, disabled: reason })
  else io.stdout.write(`${plainText(name)} is ${reason === null ? 'enabled' : 'disabled'}\n`)
  return EXIT.done
}
