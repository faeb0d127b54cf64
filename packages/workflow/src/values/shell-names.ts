/**
 * Names in shell text that nothing in the text sets: a slip for one of ours, or variables of the environment. Imports
 * the scanner of shell text.
 *
 * Errs towards "set": a name that stands anywhere without a `$`, as in `for name in`, `read name` or `name=`, counts as
 * set, and so does every name of a text that runs another text in the same shell.
 */
import { TextError } from './setup-error.js'
import type { IsKnown } from './shell-reference.js'
import { shellNamesIn } from './shell-scan.js'

/** `source file`, `. file`, `eval text`. */
const RUNS_OTHER_TEXT = /(?:^|[\s;&|(])(?:source|\.|eval)\s/

export function unsetNamesIn(text: string, isKnown: IsKnown): readonly string[] {
  if (!text.includes('${') || RUNS_OTHER_TEXT.test(text)) return []
  return namesIn(text, isKnown).filter((name) => !isSet(name, text))
}

function namesIn(text: string, isKnown: IsKnown): readonly string[] {
  try {
    return shellNamesIn(text, isKnown)
  } catch (error) {
    // A quote that never ends: the shell will say so.
    if (error instanceof TextError) return []
    throw error
  }
}

/** Also by `${name:-default}` and the like: the author has thought of a variable that is not set. */
function isSet(name: string, text: string): boolean {
  return new RegExp(`(?<![\\w$]|\\$\\{[#!]?)${name}(?!\\w)|\\$\\{${name}:?[-=?+]`).test(text)
}
