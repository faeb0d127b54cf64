/**
 * What a program said last, for people: clean lines, and the one that says what went wrong. Imports nothing.
 */

const MOST_LINES = 12
const MOST_CHARACTERS = 2000
const MOST_LINE = 300

/** Colours, titles, cursor moves: a terminal would obey them. */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g
// oxlint-disable-next-line no-control-regex -- as above
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

/** A frame of a stack, the continuation of a message, or what Node signs with. */
const ASIDE = /^\s|^Node\.js v\d|^\^+$|^\}?$/

export interface LastWords {
  /** One line; empty if nothing was said. */
  readonly headline: string
  /** The last lines, with the headline among them; empty if there is nothing beside it. */
  readonly context: string
}

export function lastWords(output: string): LastWords {
  const lines = cleanLines(output)
  const headline = lines.findLast((line) => !ASIDE.test(line)) ?? lines.at(-1) ?? ''
  return { headline: cut(headline.trim()), context: lines.length > 1 ? lines.join('\n') : '' }
}

function cleanLines(output: string): string[] {
  const lines = output
    // Some more than is kept: sequences take room.
    .slice(-4 * MOST_CHARACTERS)
    .replace(SEQUENCES, '')
    .split(/\r\n|[\r\n]/)
    .map((line) => cut(line.replace(CONTROLS, '').trimEnd()))
    .filter((line) => line !== '')
    .slice(-MOST_LINES)
  let characters = lines.reduce((sum, line) => sum + line.length + 1, 0)
  while (characters > MOST_CHARACTERS) characters -= (lines.shift()?.length ?? 0) + 1
  return lines
}

function cut(line: string): string {
  return line.length > MOST_LINE ? `${line.slice(0, MOST_LINE - 1)}…` : line
}
