/** An id that somebody gave to a run: it becomes the name of a directory. Imports the rule and the errors of commands. */
import { isId, LATEST } from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import { UsageError } from '../failures.js'

const RULE = '1 to 128 letters, digits, dots, underscores and dashes, the first one a letter or digit'

export function readId(text: string, flag: string): string {
  if (text === LATEST) throw new UsageError(`${flag}: ${LATEST} stands for the run that was started last`, RULE)
  if (isId(text)) return text
  const shown = text === '' ? 'the empty text' : JSON.stringify(plainText(text, 60))
  throw new UsageError(`${flag}: ${shown} cannot be the id of a run`, RULE)
}
