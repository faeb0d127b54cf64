/** The job that `resume` is asked for where no run of a workflow is meant. Imports the library and its own directory. */
import { LATEST } from '@reprise/workflow/internal'
import type { Ledger, RunRecord } from 'reprise/durable'
import { JOB_KIND, livingOwners } from 'reprise/internal'
import type { CommandContext } from '../../command-context.js'
import { isBegunHere } from './local-groups.js'

/** `named`: as it was typed; absent for the only one that was interrupted. Undefined: there is none, or several. */
export async function meantJob(
  ledger: Ledger,
  named: string | undefined,
  context: CommandContext,
): Promise<string | undefined> {
  return named === undefined ? interruptedJob(ledger, context) : (await namedJob(ledger, named))?.id
}

/** By its name, or by the beginning of its id. */
async function namedJob(ledger: Ledger, named: string): Promise<RunRecord | undefined> {
  const jobs = { kind: JOB_KIND }
  const [last] = await ledger.runs({ ...jobs, ...(named !== LATEST && { name: named }), limit: 1 })
  if (last !== undefined || named === '' || named === LATEST) return last
  const [only, other] = await ledger.runs({ ...jobs, idPrefix: named, limit: 2 })
  return other === undefined ? only : undefined
}

/** Jobs that `job run` has begun here, whose process is gone. */
async function interruptedJob(ledger: Ledger, context: CommandContext): Promise<string | undefined> {
  const jobs = await ledger.runs({ kind: JOB_KIND, statuses: ['running'] })
  const sites = new Set([...(await livingOwners(ledger)).values()].map(({ site }) => site))
  const left = jobs.filter(
    ({ id, detail }) => isBegunHere(id, context) && !targetsOf(detail).some((one) => sites.has(one)),
  )
  return left.length === 1 ? left[0]?.id : undefined
}

function targetsOf(detail: RunRecord['detail']): readonly string[] {
  const { targets } = (detail ?? {}) as { readonly targets?: unknown }
  return Array.isArray(targets) ? targets.filter((one) => typeof one === 'string') : []
}
