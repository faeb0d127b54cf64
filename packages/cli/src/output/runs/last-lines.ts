/** What `show` and `ps` print below their tables. Imports words, commands to type and types. */
import type { RunView } from '@reprise/workflow'
import { failureLines } from '@reprise/workflow/internal'
import type { FailureRecord } from 'reprise/durable'
import type { Display } from '../display.js'
import type { CommandWords } from '../next-commands.js'
import { wrapCommand, wrapText } from '../wrap.js'

/** An error in full, unless the table has all of it: beside the figures there is often no space for it. */
export function errorLines(
  title: string,
  failure: FailureRecord | null,
  table: readonly string[],
  { screen }: Display,
): string[] {
  if (failure === null) return []
  const [first = '', ...rest] = failureLines(failure)
  if (rest.length === 0 && table.some((line) => line.includes(first))) return []
  const more = rest.flatMap((line) => wrapText('    ', line, screen))
  return ['', ...wrapText('  ', `${title}: ${first}`, screen), ...more]
}

/** How a run that was interrupted goes on. */
export function resumeLines(
  { id, state }: Pick<RunView, 'id' | 'state'>,
  { style, screen }: Display,
  command: CommandWords,
): string[] {
  return state === 'interrupted' ? ['', ...wrapCommand(`${style.cyan('next:')} `, command(['resume', id]), screen)] : []
}
