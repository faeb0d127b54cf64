/** Output of programs without what a terminal would obey. Imports plain text. */
import { plainText } from 'reprise/internal'

/** Lines, blanks and tabs stay as they are. Word by word, so that what is set off stays so. */
export function harmless(text: string): string {
  return text.replaceAll(/[^ \t\n]+/g, (word) => plainText(word, word.length))
}
