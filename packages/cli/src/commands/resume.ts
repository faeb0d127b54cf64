/** `reprise resume [RUN]`: says what is kept, run again and waited for, then goes on. Imports the workflow package. */
import {
  expectNoSecrets,
  expectSecrets,
  findRun,
  interruptedRun,
  type PreparedResume,
  prepareResume,
  type ResumeCheck,
  type ResumeChoices,
  resumeRun,
  type RunSettings,
  withLedger,
} from '@reprise/workflow/internal'
import type { RunEnd } from '@reprise/workflow'
import type { Ledger } from 'reprise/durable'
import { JOB_KIND } from 'reprise/internal'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { EXIT, type ProgramExitCode } from '../exit-codes.js'
import { UsageError } from '../failures.js'
import { countOf } from '../input/count-flag.js'
import { neutralWorld, writePage } from '../output/github-commands.js'
import { writeJson } from '../output/json.js'
import { lookFor } from '../output/look.js'
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
  if (id !== undefined && (await isJob(id, context))) {
    const { resumeJob } = await import('../runs/jobs/resume-job.js')
    return resumeJob(id, context)
  }
  const { record, plan, check, nowMs } = await withLedger(context.settings.store, (ledger) =>
    prepare(ledger, id, choices, context),
  )
  const { world, settings } = context
  expectMaps(options, plan)
  if (check.isDone) {
    if (settings.json) writeJson(world.stdout, { run: record.id, state: record.status })
    else if (!settings.quiet) world.stderr.write(`Run ${record.id} has succeeded: there is nothing left to do.\n`)
    return EXIT.done
  }
  if (check.refusals.length > 0) throw refusedBy(check.refusals, record.id, choices)
  tellPreview(check, nowMs, options.dryRun === true, context)
  if (options.dryRun === true) return EXIT.done
  expectSecrets(plan, world.env)
  expectNoSecrets(plan, world.env)
  const input = { choices, check }
  // What was read from stdin was kept when the run began.
  const { stdin: _, ...maps } = await mapSettingsOf(options, plan, '', world)
  const conduct = (session: RunSettings): Promise<RunEnd> => resumeRun(plan, record.id, input, { ...session, maps })
  return conductRun(context, record.id, plan, conduct, { shown: options })
}

/** A job is known by its whole id: its workers are started again, and none of the flags is for it. */
async function isJob(id: string, { settings }: CommandContext): Promise<boolean> {
  return withLedger(settings.store, async (ledger) => (await ledger.run(id))?.kind === JOB_KIND)
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
  { world, settings }: CommandContext,
): Promise<PreparedResume> {
  const record = id === undefined ? await interruptedRun(ledger) : await findRun(ledger, id)
  return prepareResume(ledger, record, choices, (file) => {
    if (!settings.quiet) world.stderr.write(`${file} is gone: going on with what was recorded of it.\n`)
  })
}

function tellPreview(
  { preview }: ResumeCheck,
  nowMs: number,
  isAll: boolean,
  { world, settings }: CommandContext,
): void {
  if (settings.json) {
    if (isAll) writeJson(world.stdout, { preview })
    return
  }
  if (settings.quiet && !isAll) return
  const output = isAll ? world.stdout : world.stderr
  const lines = resumePreview(preview, nowMs, lookFor(world, settings, output))
  const text = `${lines.join('\n')}\n`
  if (isAll) writePage(world, text)
  else neutralWorld(world).stderr.write(text)
}
