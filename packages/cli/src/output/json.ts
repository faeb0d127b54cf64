/** Data for programs. Imports the world's types. */
import type { Output } from '../world.js'

export function writeJson(output: Output, value: unknown): void {
  // JSON leaves a few controls as they are, and a terminal might obey them.
  const text = JSON.stringify(value, undefined, 2).replaceAll(/[\u007f-\u009f\u2028\u2029]/g, escapeUnit)
  output.write(`${text}\n`)
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
