/**
 * A value as JSON for programs: what commands print with `--json`, and what the HTTP API answers. Times have their dates
 * beside them, and no character of it is obeyed by a terminal or a runner. Imports the times.
 */
import { withDates } from './json-times.js'

/** `indent`: spaces for each level; without it one line. */
export function jsonText(value: unknown, indent?: number): string {
  return harmless(JSON.stringify(withDates(value), undefined, indent))
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
