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

/** A title and what it is about: side by side where they fit, else below each other. */
export function titleLines(title: string, about: string, { screen }: { readonly screen: number }): string[] {
  const line = `${title}  ${about}`
  return textWidth(line) <= screen ? [line] : [...wrapText('', title, screen), ...wrapText('  ', about, screen)]
}

/** Words as a shell takes them: a quoted one may hold spaces. */
const SHELL_WORD = /(?:'[^']*'|\\.|[^\s'\\])+/g

/** A command on lines that fit, each ended so that a shell takes all of them as one command. */
export function wrapCommand(lead: string, command: string, width: number): string[] {
  const lines: string[] = []
  let line = lead
  let isFirst = true
  const words = command.match(SHELL_WORD) ?? []
  for (const [index, word] of words.entries()) {
    const ending = index === words.length - 1 ? 0 : 2
    if (!isFirst && textWidth(line) + 1 + textWidth(word) + ending > width) {
      lines.push(`${line} \\`)
      line = ' '.repeat(textWidth(lead) + 2)
      isFirst = true
    }
    line += isFirst ? word : ` ${word}`
    isFirst = false
  }
  return [...lines, line]
}
