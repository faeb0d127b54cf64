/** Text broken into lines that fit. Imports the width of text. */
import { textWidth } from './width.js'

/** The first line begins with `lead`; the others are indented as far. A word that is too long stays whole. */
export function wrapText(lead: string, text: string, width: number, breaks: RegExp = / /): string[] {
  const indentCells = textWidth(lead)
  const lines: string[] = []
  let line = lead
  let isEmpty = true
  for (const word of text.split(breaks)) {
    if (!isEmpty && textWidth(line) + 1 + textWidth(word) > width) {
      lines.push(line)
      line = indentFor(word, indentCells, width)
      isEmpty = true
    }
    line += isEmpty ? word : ` ${word}`
    isEmpty = false
  }
  return [...lines, line]
}

/** A long word, such as an id, is indented less rather than broken by the terminal. */
function indentFor(word: string, cells: number, width: number): string {
  const space = width - textWidth(word)
  return ' '.repeat(space >= 0 ? Math.min(cells, space) : cells)
}

/** A title and what it is about: side by side where they fit, else below each other. */
export function titleLines(title: string, about: string, { screen }: { readonly screen: number }): string[] {
  const line = `${title}  ${about}`
  return textWidth(line) <= screen ? [line] : [...wrapText('', title, screen), ...wrapText('  ', about, screen)]
}

/** Words as a shell takes them: a quoted one may hold spaces. An option stays with its value. */
const SHELL_WORDS = /(?:--[\w-]+ (?!-))?(?:'[^']*'|\\.|[^\s'\\])+/g
const CONTINUED = ' \\'

/** A command on lines that fit, each ended so that a shell takes all of them as one command. */
export function wrapCommand(lead: string, command: string, width: number): string[] {
  if (textWidth(lead) + textWidth(command) <= width) return [lead + command]
  const parts = command.match(SHELL_WORDS) ?? []
  const words = parts.map((word, index) => (index === parts.length - 1 ? word : word + CONTINUED))
  const lines: string[] = []
  let line = lead
  let isEmpty = true
  for (const word of words) {
    if (!isEmpty && textWidth(line) - CONTINUED.length + 1 + textWidth(word) > width) {
      lines.push(line)
      line = indentFor(word, textWidth(lead) + 2, width)
      isEmpty = true
    }
    line = isEmpty ? line + word : `${line.slice(0, -CONTINUED.length)} ${word}`
    isEmpty = false
  }
  return [...lines, line]
}
