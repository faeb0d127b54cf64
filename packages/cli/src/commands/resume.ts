/** `reprise resume [RUN]`: says what is kept, run again and waited for, then goes on. Imports the workflow package. */
import {
  expectNoSecrets,
  expectSecrets,
  findRun,
  interruptedRun,
  OperationError,
  type PreparedResume,
  prepareResume,
  type ResumeCheck,
  type ResumeChoices,
  resumeRun,
  runEnvironment,
  type RunSettings,
  withLedger,
} from '@reprise/workflow/internal'
import type { RunEnd } from '@reprise/workflow'
import type { Ledger } from 'reprise/durable'
import { JOB_KIND, plainText } from 'reprise/internal'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { EXIT, type ProgramExitCode } from '../exit-codes.js'
import { UsageError } from '../failures.js'
import { countOf } from '../input/count-flag.js'
import { neutralIo, writePage } from '../output/github-commands.js'
import { writeJson } from '../output/json.js'
import { displayFor } from '../output/display.js'
import { resumePreview } from '../output/runs/resume-preview.js'
import { conductRun, type ShownOptions } from '../runs/conduct.js'
import { expectMaps, type MapFlags, mapSettingsOf } from '../runs/map-flags.js'
import { refusedBy } from '../runs/refused-by.js'

type Options = ShownOptions &
  Pick<MapFlags, 'maxParallel' | 'maxFailures' | 'joblog'> & {
    readonly dryRun?: boolean
    readonly resetRetries?: boolean
    readonly acceptChanges?: boolean
    readonly done?: readonly string[]
    readonly rerun?: readonly string[]
    readonly force?: boolean
  }

export async function run(
  { values: { run: id }, options }: ParsedArguments<{ readonly run?: string }, Options>,
  context: CommandContext,
): Promise<ProgramExitCode> {
  const choices = choicesOf(options)
  const job = await withLedger(context.settings.store, (ledger) => jobInstead(ledger, id, context))
  if (job !== undefined) {
    const { dryRun = false, ...others } = options
    expectNoRunFlags(job, others)
    const { previewJob, resumeJob } = await import('../runs/jobs/resume-job.js')
    return dryRun ? previewJob(job, context) : resumeJob(job, context)
  }
  return continueRun(id, choices, options, context)
}

/** Shows what is about to happen with the run, and goes on with it. */
export async function continueRun(
  id: string | undefined,
  given: ResumeChoices,
  options: Options,
  context: CommandContext,
): Promise<ProgramExitCode> {
  const { record, plan, check, choices, nowMs } = await withLedger(context.settings.store, (ledger) =>
    prepare(ledger, id, given, context),
  )
  const { io, settings } = context
  expectMaps(options, plan)
  if (check.isDone) {
    if (settings.json) writeJson(io.stdout, { run: record.id, state: record.status })
    else if (!settings.quiet) io.stderr.write(`Run ${record.id} has succeeded: there is nothing left to do.\n`)
    return EXIT.done
  }
  if (check.refusals.length > 0) throw refusedBy(check.refusals, record.id, choices)
  tellPreview(check, nowMs, options.dryRun === true, context)
  if (options.dryRun === true) return EXIT.done
  const env = runEnvironment(plan, record, io.env)
  expectSecrets(plan, env)
  expectNoSecrets(plan, env)
  const input = { choices, check }
  // What was read from stdin was kept when the run began.
  const { stdin: _, ...maps } = await mapSettingsOf(options, plan, '', io)
  const conduct = (session: RunSettings): Promise<RunEnd> => resumeRun(plan, record.id, input, { ...session, maps })
  return conductRun(context, record.id, plan, conduct, { shown: options })
}

/** The job that is meant; undefined: a run is, or nothing. Runs come first, and their resume does not load what jobs need. */
async function jobInstead(
  ledger: Ledger,
  named: string | undefined,
  context: CommandContext,
): Promise<string | undefined> {
  const record = named === undefined ? undefined : await ledger.run(named)
  if (record !== undefined) return record.kind === JOB_KIND ? record.id : undefined
  try {
    await (named === undefined ? interruptedRun(ledger) : findRun(ledger, named))
    return undefined
  } catch (error) {
    if (!(error instanceof OperationError)) throw error
    if (error.kind !== 'not_found') return undefined
    const { meantJob } = await import('../runs/jobs/meant-job.js')
    return meantJob(ledger, named, context)
  }
}

/** Flags are about the steps of a run. One that would do nothing is refused, since it was meant to do something. */
function expectNoRunFlags(id: string, options: object): void {
  const [flag] = Object.entries(options).find(([, value]) => value !== undefined && value !== false) ?? []
  if (flag === undefined) return
  const name = `--${flag.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  throw new UsageError(
    `${name} is for runs of workflows, and ${plainText(id)} is a job`,
    '`reprise job retry` runs what has failed again',
  )
}

function choicesOf({
  resetRetries = false,
  acceptChanges = false,
  done = [],
  rerun = [],
  force = false,
  ...options
}: Options): ResumeChoices {
  const both = done.filter((step) => rerun.includes(step))
  if (both.length > 0) throw new UsageError(`step ${both.join(', ')} cannot be both done and to be run again`)
  const maxParallel = countOf('--max-parallel', options.maxParallel)
  const maxFailures = countOf('--max-failures', options.maxFailures)
  const limits = {
    ...(maxFailures !== undefined && { maxFailures }),
    ...(maxParallel !== undefined && { maxParallel }),
  }
  return { resetRetries, acceptChanges, done, rerun, force, ...limits }
}

async function prepare(
  ledger: Ledger,
  id: string | undefined,
  choices: ResumeChoices,
  { io, settings }: CommandContext,
): Promise<PreparedResume> {
  const record = id === undefined ? await interruptedRun(ledger) : await findRun(ledger, id)
  return prepareResume(ledger, record, choices, (file) => {
    if (!settings.quiet) io.stderr.write(`${file} is gone: going on with what was recorded of it.\n`)
  })
}

function tellPreview({ preview }: ResumeCheck, nowMs: number, isAll: boolean, { io, settings }: CommandContext): void {
  if (settings.json) {
    if (isAll) writeJson(io.stdout, { preview })
    return
  }
  if (settings.quiet && !isAll) return
  const output = isAll ? io.stdout : io.stderr
  const lines = resumePreview(preview, nowMs, displayFor(io, settings, output))
  const text = `${lines.join('\n')}\n`
  if (isAll) writePage(io, text)
  else neutralIo(io).stderr.write(text)
}
