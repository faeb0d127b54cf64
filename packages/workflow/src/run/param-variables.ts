/** Parameters of a run as variables of the environment of its commands. Imports how values are written as text. */
import type { Json } from 'reprise/durable'
import { textOf } from '../values/template.js'

/** A longer value would take the place of everything else that a command is given. */
const MAX_TEXT = 32 * 1024

/** `REPRISE_PARAM_region`; lists and objects as JSON. What no variable can hold is left out. */
export function paramVariables(params: Readonly<Record<string, Json>>): Record<string, string> {
  const texts = Object.entries(params).map(([name, value]) => [`REPRISE_PARAM_${name}`, textOf(value)] as const)
  return Object.fromEntries(texts.filter(([, text]) => text.length <= MAX_TEXT && !text.includes('\0')))
}
