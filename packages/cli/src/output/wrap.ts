/** Text broken into lines that fit. Imports the width of text. */
import { textWidth } from './width.js'

/** The first line begins with `lead`; the others are indented as far. A word that is too long stays whole. */
export function wrapText(lead: string, text: string, width: number, breaks: RegExp = / /): string[] {
  const indent = ' '.repeat(textWidth(lead))
  const lines: string[] = []
  let line = lead
  let isEmpty = true
  for (const word of text.split(breaks)) {
    if (!isEmpty && textWidth(line) + 1 + textWidth(word) > width) {
      lines.push(line)
      line = indent
      isEmpty = true
    }
    line += isEmpty ? word : ` ${word}`
    isEmpty = false
  }
  return [...lines, line]
}
