/** `reprise run FILE`: runs a workflow. Imports the workflow package and what conducts runs. */
import {
  expectNewRun,
  expectNoSecrets,
  expectSecrets,
  loadPlan,
  newRunId,
  readParams,
  startRun,
  withEnvFiles,
} from '@reprise/workflow/internal'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { EXIT, type ProgramExitCode } from '../exit-codes.js'
import { UsageError } from '../failures.js'
import { openSource } from '../input/open-source.js'
import { conductRun, type ShownOptions } from '../runs/conduct.js'
import { writeNotes } from '../output/problems.js'
import { readId } from '../runs/read-id.js'
import { definedOf } from '../runs/defined-variables.js'
import { type MapFlags, mapSettingsOf } from '../runs/map-flags.js'
import { showPlan } from '../runs/show-plan.js'

type Options = ShownOptions &
  MapFlags & {
    readonly param?: readonly string[]
    readonly runId?: string
    readonly dryRun?: boolean
  }

export async function run(
  { values: { file }, options }: ParsedArguments<{ readonly file: string }, Options>,
  context: CommandContext,
): Promise<ProgramExitCode> {
  const source = await openSource(file, context)
  const { plan, documentDir, notes, shownFile } = await loadPlan(source, file === '-' ? null : file)
  const env = withEnvFiles(plan, documentDir, context.io.env)
  const given = { '--param': [...(options.param ?? [])], '--run-id': options.runId ?? null }
  expectNoSecrets(plan, env, {
    ...given,
    'the path of the file': plan.file,
    'the directory of the file': documentDir,
  })
  const params = readParams(paramTexts(options.param ?? []), plan)
  const maps = await mapSettingsOf(options, plan, file, context.io)
  if (options.dryRun === true) {
    writeNotes(shownFile, notes, context)
    const reading = { ...maps, params: { ...plan.params, ...params }, env: definedOf(env), documentDir }
    await showPlan(plan, params, reading, context)
    return EXIT.done
  }
  expectSecrets(plan, env)
  writeNotes(shownFile, notes, context)
  const runId = options.runId ?? newRunId(plan.name, new Date())
  if (options.runId !== undefined) await expectNewRun(context.settings.store, readId(options.runId, '--run-id'))
  const input = { runId, params, cwd: documentDir, documentDir }
  return conductRun(context, runId, plan, (settings) => startRun(plan, input, { ...settings, maps }), {
    shown: options,
  })
}

/** Split one by one as they are read: the first that is wrong is told. */
function* paramTexts(given: readonly string[]): Iterable<readonly [name: string, text: string]> {
  for (const text of given) {
    const at = text.indexOf('=')
    if (at < 1) throw new UsageError(`--param ${text} has no value`, 'write it as --param name=value')
    yield [text.slice(0, at), text.slice(at + 1)]
  }
}
