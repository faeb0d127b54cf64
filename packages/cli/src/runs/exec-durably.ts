/**
 * One command that is kept in the store under an id: begun once, gone on with by the same id, and never run again once
 * it has succeeded. Imports the workflow package and what conducts runs.
 */
import path from 'node:path'
import { checkResume, describeDifference, type Plan, resumeRun, startRun } from '@reprise/workflow'
import type { CommandContext } from '../command-context.js'
import { EXIT, type ExitCode } from '../exit-codes.js'
import { RefusedError } from '../failures.js'
import { writeJson } from '../output/json.js'
import { conductRun } from './conduct.js'
import { recordedPlan } from './load-plan.js'
import { refusedBy } from './refused-by.js'
import { ifKept } from './store.js'

const CHOICES = { resetRetries: false, acceptChanges: false, done: [], rerun: [], force: false } as const

export async function execDurably(id: string, plan: Plan, context: CommandContext): Promise<ExitCode> {
  const { world, settings } = context
  const check = await lookAt(id, plan, context)
  const cwd = process.cwd()
  const options = { isPassedOn: true }
  if (check === undefined) {
    const input = { runId: id, params: {}, cwd, documentDir: path.resolve(cwd) }
    return conductRun(context, id, (session) => startRun(plan, input, session), options)
  }
  if (check.isDone) {
    if (settings.json) writeJson(world.stdout, { id, state: 'succeeded' })
    else if (!settings.quiet) world.stderr.write(`${id} has succeeded before: it is not run again.\n`)
    return EXIT.done
  }
  if (check.refusals.length > 0) throw refusedBy(check.refusals)
  const input = { choices: CHOICES, check }
  return conductRun(context, id, (session) => resumeRun(plan, id, input, session), options)
}

async function lookAt(
  id: string,
  plan: Plan,
  context: CommandContext,
): Promise<Awaited<ReturnType<typeof checkResume>> | undefined> {
  return ifKept(context, async (ledger) => {
    const run = await ledger.run(id)
    if (run === undefined) return undefined
    const definition = (await ledger.definition(id)) ?? null
    const before = (): Plan => recordedPlan(run, definition)
    const check = await checkResume(ledger, run, { before, now: plan }, CHOICES)
    if (check.differences.length === 0) return check
    throw new RefusedError({
      kind: 'definition_changed',
      message: `${id} was begun with another command or policy.`,
      details: check.differences.map(describeDifference),
      next: [`reprise show ${id}`],
    })
  })
}
