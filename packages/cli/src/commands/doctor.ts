/** `reprise doctor`: what is wrong with the installation and the store, and what cures it. Imports the checks and output. */
import { expectFound, salvage, storeWithoutPassword } from '@reprise/workflow/internal'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { EXIT, type ExitCode } from '../exit-codes.js'
import { doctorPage, salvagePage } from '../output/doctor.js'
import { writeJson } from '../output/json.js'
import { displayFor } from '../output/display.js'
import { commandWords } from '../output/next-commands.js'
import { checkEverything, exitCodeOf } from '../runs/doctor-report.js'
import { writePage } from '../output/github-commands.js'

export async function run(
  { options }: ParsedArguments<object, { readonly salvage?: string }>,
  context: CommandContext,
): Promise<ExitCode> {
  if (options.salvage !== undefined) return salvageInto(options.salvage, context)
  const { io, settings } = context
  const checks = await checkEverything(context)
  const code = exitCodeOf(checks)
  if (settings.json) {
    writeJson(io.stdout, {
      ok: code === EXIT.done,
      checks: checks.map(({ area, state, rule, place, message, cure }) => ({
        area,
        state,
        rule,
        place,
        message,
        cure,
      })),
    })
    return code
  }
  const shown = settings.quiet ? checks.filter(({ state }) => state === 'fault') : checks
  if (!settings.quiet || shown.length > 0) writePage(io, `${doctorPage(shown, displayFor(io, settings)).join('\n')}\n`)
  return code
}

async function salvageInto(file: string, { io, settings }: CommandContext): Promise<ExitCode> {
  const { rows, lost } = await expectFound(settings.store, () => salvage(settings.store, file))
  const view = { address: storeWithoutPassword(settings.store), file, rows, lost }
  const code = lost.length === 0 ? EXIT.done : EXIT.completedWithFailures
  if (settings.json) {
    writeJson(io.stdout, view)
    return code
  }
  const next = commandWords({ store: `sqlite:${file}` }, {})(['doctor'])
  const lines = [...salvagePage(view, displayFor(io, settings, io.stderr)), `next: ${next}`]
  if (!settings.quiet) io.stderr.write(`${lines.join('\n')}\n`)
  return code
}
