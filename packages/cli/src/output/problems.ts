/**
 * Problems for people: where, the line with a caret under the place, what is wrong, and what to do.
 * Imports styles, widths and the plain text of the library.
 */
import type { InputError, Problem } from '@reprise/workflow'
import { plainText } from 'reprise/internal'
import type { CommandContext } from '../command-context.js'
import type { OutputError } from '../output-error.js'
import type { Output } from '../process-io.js'
import type { Style } from './style.js'
import { textWidth } from './width.js'
import { wrapText } from './wrap.js'

/** More than anybody repairs before trying again. */
const MAX_SHOWN = 20
/** Of a message: those of a damaged store have several sentences. */
const MAX_TEXT = 2000
/** Of a long line, what stands before and after the place. */
const BEFORE = 60
const AFTER = 40

export function printProblems(error: InputError | OutputError, output: Output, style: Style, isAll = false): void {
  const lines = error.text.split(/\r\n|\n|\r/)
  const shown = isAll ? error.problems : error.problems.slice(0, MAX_SHOWN)
  // A pipe has no columns, and some terminals say 0 when they do not know: every line stays whole.
  const columns = output.columns || Infinity
  const blocks = shown.map((problem) => describe(problem, lines, style, columns))
  const left = error.problems.length - shown.length
  if (left > 0) blocks.push(`… and ${left} more problems: -v shows all of them.`)
  output.write(`${blocks.join('\n\n')}\n`)
}

/** What is allowed but odd in a file. */
export function writeNotes(
  file: string,
  notes: readonly string[],
  { io, settings }: Pick<CommandContext, 'io' | 'settings'>,
): void {
  if (settings.quiet) return
  for (const note of notes) io.stderr.write(`${plainText(file)}: note: ${plainText(note)}\n`)
}

function describe(problem: Problem, lines: readonly string[], style: Style, columns: number): string {
  const { file, line, column, path } = problem
  const place = [file, line, column].filter((part) => part !== undefined).join(':')
  const subject = path ? `${path}: ` : ''
  const head = place === '' ? '' : `${style.bold(plainText(place))}: `
  const text = wrapText('', `${head}${style.red('error')}: ${plainText(subject + problem.message, MAX_TEXT)}`, columns)
  if (line !== undefined && column !== undefined) text.push(...excerpt(lines[line - 1] ?? '', line, column, style))
  if (problem.suggestion !== undefined) text.push(`  ${style.cyan('hint')}: ${plainText(problem.suggestion, MAX_TEXT)}`)
  return text.join('\n')
}

function excerpt(source: string, line: number, column: number, style: Style): string[] {
  const start = Math.max(0, column - 1 - BEFORE)
  const before = visible((start > 0 ? '…' : '') + source.slice(start, column - 1))
  const end = column - 1 + AFTER
  const after = visible(source.slice(column - 1, end) + (source.length > end ? '…' : ''))
  const margin = `${line} │ `.padStart(8)
  return [
    style.dim(margin) + before + after,
    style.dim('│ '.padStart(8)) + ' '.repeat(textWidth(before)) + style.red('^'),
  ]
}

/** One cell for each thing a terminal might obey, so that the caret stays under its place. */
function visible(text: string): string {
  return text
    .replaceAll('\t', ' ')
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Surrogate}\u061c\u200b-\u200f\u202a-\u202e\u2066-\u2069]/gu, '\u00b7')
}
