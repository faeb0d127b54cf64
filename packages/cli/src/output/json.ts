/** Data for programs. Imports types and times. */
import type { CommandContext } from '../command-context.js'
import type { Output } from '../world.js'
import { withDates } from './json-times.js'

/** Prints the value where `--json` or `--ndjson` asks for data; false if neither does. */
export function writeData({ world, settings }: CommandContext, value: unknown): boolean {
  if (settings.json) writeJson(world.stdout, value)
  else if (settings.ndjson) writeJsonLine(world.stdout, value)
  else return false
  return true
}

/** The same for a list: with `--ndjson` a line for each of its elements. */
export function writeListData(context: CommandContext, whole: unknown, elements: readonly unknown[]): boolean {
  if (context.settings.json || !context.settings.ndjson) return writeData(context, whole)
  for (const element of elements) writeJsonLine(context.world.stdout, element)
  return true
}

export function writeJson(output: Output, value: unknown): void {
  output.write(`${harmless(JSON.stringify(withDates(value), undefined, 2))}\n`)
}

/** One line, for streams. */
export function writeJsonLine(output: Output, value: unknown): void {
  output.write(`${harmless(JSON.stringify(withDates(value)))}\n`)
}

/**
 * JSON leaves a few controls as they are, and marks that turn the direction of text; a terminal might obey them. The
 * runner of GitHub Actions obeys `##[name]` anywhere in a line, and `::name::` only where a line of JSON cannot have it.
 */
function harmless(json: string): string {
  return json.replaceAll(/[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|#(?=#\[)/g, escapeUnit)
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
