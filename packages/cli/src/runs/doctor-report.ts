/**
 * What `reprise doctor` reports: the checks of the workflow package, and the terminal, which only the command line knows.
 * Imports the workflow package and output.
 */
import { checkInstallation, checkStore, type DoctorCheck } from '@reprise/workflow/internal'
import type { CommandContext } from '../command-context.js'
import { EXIT, type ExitCode } from '../exit-codes.js'
import type { ReportedCheck } from '../output/doctor.js'
import { displayFor } from '../output/display.js'
import { commandWords } from '../output/next-commands.js'
import { cureWords } from './doctor-cures.js'

export async function checkEverything(context: CommandContext): Promise<ReportedCheck[]> {
  const { settings, io } = context
  const { store } = settings
  const command = commandWords(settings, io.env)
  const checks = [...(await checkInstallation(store)), terminalCheck(context), ...(await checkStore(store))]
  return checks.map((check) => ({ ...check, cure: check.cure === null ? null : cureWords(check.cure, command) }))
}

/** The exit code of the gravest: a store that cannot be read, then records that cannot be. */
export function exitCodeOf(checks: readonly Pick<DoctorCheck, 'severity'>[]): ExitCode {
  if (checks.some(({ severity }) => severity === 'unusable')) return EXIT.unwritable
  return checks.some(({ severity }) => severity === 'refused') ? EXIT.refused : EXIT.done
}

function terminalCheck({ io, settings }: CommandContext): DoctorCheck {
  const { stdout, env } = io
  const ok = { area: 'installation', state: 'ok', severity: null, rule: null, place: null, cure: null } as const
  if (stdout.isTTY !== true) return { ...ok, message: 'stdout is not a terminal: plain lines, no live view' }
  const { bars, blocks, style } = displayFor(io, settings)
  const marked = style.bold('x') === 'x' ? 'no colours' : 'colours'
  const text = blocks ? 'UTF-8' : 'ASCII'
  const plain = bars ? '' : `; plain lines, since ${env['CI'] ? 'CI' : 'TERM'} says so`
  return { ...ok, message: `terminal of ${stdout.columns ?? 'unknown'} columns, ${marked}, ${text}${plain}` }
}
