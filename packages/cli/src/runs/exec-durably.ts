/**
 * One command that is kept in the store under an id: begun once, gone on with by the same id, and never run again once
 * it has succeeded. Imports the workflow package and what conducts runs.
 */
import { fstatSync } from 'node:fs'
import type { Plan } from '@reprise/workflow'
import {
  BLIND_READERS,
  checkResume,
  describeDifference,
  ifKept,
  planFromDocument,
  recordedPlan,
  resumeRun,
  startRun,
} from '@reprise/workflow/internal'
import type { Json } from 'reprise/durable'
import type { CommandContext } from '../command-context.js'
import { EXIT, type ProgramExitCode } from '../exit-codes.js'
import { RefusedError, UsageError } from '../failures.js'
import { writeJson } from '../output/json.js'
import type { ProcessIo } from '../process-io.js'
import { commandExitCode } from './command-exit-code.js'
import { conductRun } from './conduct.js'
import { hasEndedEmpty, kindOfStdin } from './exec-stdin.js'
import { readId } from './read-id.js'
import { refusedBy } from './refused-by.js'
import path from 'node:path'

/** An input that has ended is known to have by then. */
const EMPTY_MS = 250
const CHOICES = { resetRetries: false, acceptChanges: false, done: [], rerun: [], force: false } as const

export interface DurableCommand {
  readonly command: readonly string[]
  /** As a document would have it. */
  readonly retry: Json
}

export async function execDurably(
  name: string,
  given: DurableCommand,
  context: CommandContext,
): Promise<ProgramExitCode> {
  const id = readId(name, '--durable')
  const { io, settings } = context
  await expectNoStdin(io)
  const plan = planOf(given)
  const check = await lookAt(id, plan, context)
  const cwd = process.cwd()
  const options = { isPassedOn: true, exitCode: commandExitCode }
  if (check === undefined) {
    const input = { runId: id, params: {}, cwd, documentDir: path.resolve(cwd) }
    return conductRun(context, id, plan, (session) => startRun(plan, input, session), options)
  }
  if (check.isDone) {
    if (settings.json) writeJson(io.stdout, { id, state: 'succeeded' })
    else if (!settings.quiet) io.stderr.write(`${id} has succeeded before: it is not run again.\n`)
    return EXIT.done
  }
  if (check.refusals.length > 0) throw refusedBy(check.refusals, id)
  const input = { choices: CHOICES, check }
  return conductRun(context, id, plan, (session) => resumeRun(plan, id, input, session), options)
}

/** What one process has read another could not go on with. */
async function expectNoStdin(io: ProcessIo): Promise<void> {
  const kind = kindOfStdin(io)
  if (kind === 'none' || kind === 'shared') return
  if (kind === 'file' && fstatSync(io.stdinDescriptor ?? 0).size === 0) return
  if (kind === 'once' && (await hasEndedEmpty(io, EMPTY_MS))) return
  throw new UsageError(
    '--durable keeps no stdin: a process that goes on with the command would not have it',
    'write it to a file that the command reads; if there is none, say so: `< /dev/null`',
  )
}

async function lookAt(
  id: string,
  plan: Plan,
  context: CommandContext,
): Promise<Awaited<ReturnType<typeof checkResume>> | undefined> {
  return ifKept(context.settings.store, async (ledger) => {
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
      next: [['show', id]],
    })
  })
}

/** The same as a workflow of one step. */
function planOf({ command, retry }: DurableCommand): Plan {
  const step = { id: 'command', run: command.map(literal), retry }
  return planFromDocument({ name: 'exec', steps: [step] }, null, BLIND_READERS)
}

/** What is typed is meant as it is. */
function literal(argument: string): string {
  return argument.replaceAll('${', '$${')
}
