/** Data for programs. Imports the world's types. */
import type { Output } from '../world.js'
import { withDates } from './json-times.js'

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
