/** Data for programs. Imports types and the text of JSON. */
import { jsonText } from '@reprise/workflow/internal'
import type { CommandContext } from '../command-context.js'
import type { Output } from '../process-io.js'

/** Prints the value where `--json` or `--ndjson` asks for data; false if neither does. */
export function writeData({ io, settings }: CommandContext, value: unknown): boolean {
  if (settings.json) writeJson(io.stdout, value)
  else if (settings.ndjson) writeJsonLine(io.stdout, value)
  else return false
  return true
}

/** The same for a list: with `--ndjson` a line for each of its elements. */
export function writeListData(context: CommandContext, whole: unknown, elements: readonly unknown[]): boolean {
  if (context.settings.json || !context.settings.ndjson) return writeData(context, whole)
  for (const element of elements) writeJsonLine(context.io.stdout, element)
  return true
}

export function writeJson(output: Output, value: unknown): void {
  output.write(`${jsonText(value, 2)}\n`)
}

/** One line, for streams. */
export function writeJsonLine(output: Output, value: unknown): void {
  output.write(`${jsonText(value)}\n`)
}
