/**
 * Whether a value can reach a program whole, as an argument or in its environment: refused rather than changed on the way.
 * Imports nothing of Node.
 */
import { SetupError } from './setup-error.js'

/** Of one argument or variable, name and end included: `MAX_ARG_STRLEN` of Linux. Elsewhere it is not less. */
const MAX_BYTES = 128 * 1024
const encoder = new TextEncoder()

/** The text itself; `what` names it: `${items}`, argument 2. */
export function expectPassable(text: string, what: string): string {
  if (text.includes('\0')) {
    throw new SetupError('unusable_value', `${what} holds a NUL character, which no argument or variable can hold`)
  }
  // A half of a surrogate pair would become another character.
  if (/\p{Surrogate}/u.test(text)) {
    throw new SetupError(
      'unusable_value',
      `${what} is not valid Unicode and would be changed on its way to the program`,
    )
  }
  const bytes = text.length * 3 < MAX_BYTES ? 0 : encoder.encode(text).length
  if (bytes + 64 > MAX_BYTES) {
    const cure = 'put it into a file with `write_file`, and pass the path'
    throw new SetupError(
      'too_large',
      `${what} has ${bytes} bytes; a program takes at most ${MAX_BYTES - 64} at a time: ${cure}`,
    )
  }
  return text
}
