/** Text broken into lines that fit. Imports the width of text. */
import { textWidth } from './width.js'

/** The first line begins with `lead`; the others are indented as far. A word that is too long stays whole. */
export function wrapText(lead: string, text: string, width: number, breaks: RegExp = / /): string[] {
  return wrapWords(lead, text.split(breaks), { width, indentCells: textWidth(lead), lineEnd: '' })
}

interface Wrapping {
  readonly width: number
  /** Of every line but the first. */
  readonly indentCells: number
  /** Ends every line but the last. */
  readonly lineEnd: string
}

function wrapWords(lead: string, words: readonly string[], { width, indentCells, lineEnd }: Wrapping): string[] {
  const lines: string[] = []
  let line = lead
  let isEmpty = true
  for (const [index, word] of words.entries()) {
    const cells = textWidth(word) + (index === words.length - 1 ? 0 : lineEnd.length)
    if (!isEmpty && textWidth(line) + 1 + cells > width) {
      lines.push(line + lineEnd)
      line = indentFor(cells, indentCells, width)
      isEmpty = true
    }
    line += isEmpty ? word : ` ${word}`
    isEmpty = false
  }
  return [...lines, line]
}

/** A long word, such as an id, is indented less rather than broken by the terminal. */
function indentFor(wordCells: number, cells: number, width: number): string {
  const space = width - wordCells
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
  const words = command.match(SHELL_WORDS) ?? []
  return wrapWords(lead, words, { width, indentCells: textWidth(lead) + 2, lineEnd: CONTINUED })
}
