/**
 * Shell variables that were given one of our values, where bash would evaluate what they hold: `x=${n}; echo $((x + 1))`
 * executes `a[$(reboot)]`. No scan of the text can refuse that for sure, since variables are also set by functions, by
 * `read` and in files; so these are notes, for people to look at. Imports the scanner of shell text.
 */
import { TextError } from './setup-error.js'
import type { IsKnown } from './shell-reference.js'
import { assignedNamesIn } from './shell-scan.js'

/** What is longer is not looked through: the expressions look ahead, and a note is no promise. */
const MAX_TEXT = 64 * 1024
const MAX_NAMES = 50
const NUMBER_CURE = 'make a number of it, `$(printf %d "${…}")`, or give it to a program as an argument of `run`'
const NAME_CURE = 'compare it with the names that are allowed, in a `case`'
const TEXT_CURE = 'quote it, `$(printf %q "${…}")`, or give it to a program as an argument of `run`'

/** `NAME` stands for the names. */
const RISKS: readonly (readonly [where: string, cure: string, source: string])[] = [
  ['arithmetic', NUMBER_CURE, String.raw`\(\((?![^\n]{0,200}printf %d)[^\n]{0,200}?(?<![\w"'])\$?\{?(NAME)\b`],
  ['arithmetic', NUMBER_CURE, String.raw`\blet [^\n;]{0,200}?\b(NAME)\b`],
  [
    '`[[ ]]` with a comparison of numbers',
    NUMBER_CURE,
    String.raw`\[\[[^\n]{0,200}?\$\{?(NAME)\}?["']? +-(?:eq|ne|[lg][te])\b`,
  ],
  [
    '`[[ ]]` with a comparison of numbers',
    NUMBER_CURE,
    String.raw`\[\[[^\n]{0,200}? -(?:eq|ne|[lg][te]) +["']?\$?\{?(NAME)\b`,
  ],
  ['a part of a text, `${text:start:length}`', NUMBER_CURE, String.raw`\$\{\w{1,99}:(?![-=?+])[^}\n]{0,99}?\b(NAME)\b`],
  ['an indirect name, `${!name}`', NAME_CURE, String.raw`\$\{!(NAME)\b`],
  ['a subscript', NUMBER_CURE, String.raw`\w\[["']?\$?\{?(NAME)\}?["']?\]`],
  [
    'the place of a name, which may have a subscript',
    NAME_CURE,
    String.raw`\b(?:printf -v|(?:unset|read|mapfile|readarray)(?: -[aefrstv]{1,7}){0,7}|declare|typeset|local|export|readonly) +["']?\$\{?(NAME)\b`,
  ],
  [
    'the place of a name, which may have a subscript',
    NAME_CURE,
    String.raw`(?:\btest|\[\[?) (?:[^\n;]{0,200} )?-[vR] +["']?\$\{?(NAME)\b`,
  ],
  [
    '`declare` with `-i` or `-n`',
    NUMBER_CURE,
    String.raw`\b(?:declare|typeset|local|readonly) +-[A-Za-z]{0,9}[in][^\n;]{0,200}?\$\{?(NAME)\b`,
  ],
  ['`eval` or `trap`', TEXT_CURE, String.raw`\b(?:eval|trap) [^\n;]{0,200}?\$\{?(NAME)\b`],
  ['the program text of a shell', TEXT_CURE, String.raw`\b(?:ba|da|k|z)?sh -c "[^"\n]{0,200}?\$\{?(NAME)\b`],
  [
    'what a shell reads as its program',
    TEXT_CURE,
    String.raw`\$\{?(NAME)\b[^\n|]{0,99}\| *(?:ba|da|k|z)?sh\b(?! *[\w./-])`,
  ],
]

/** A sentence for each risk. */
export function taintNotes(text: string, isKnown: IsKnown): string[] {
  if (!text.includes('${') || text.length > MAX_TEXT) return []
  const names = assignedNames(text, isKnown).slice(0, MAX_NAMES)
  if (names.length === 0) return []
  const notes = RISKS.flatMap(([where, cure, source]) => {
    const name = new RegExp(source.replace('NAME', names.join('|'))).exec(text)?.[1]
    return name === undefined
      ? []
      : `\`$${name}\` has the value of a reference, and bash evaluates it in ${where}: ${cure}.`
  })
  return [...new Set(notes)]
}

function assignedNames(text: string, isKnown: IsKnown): readonly string[] {
  try {
    return assignedNamesIn(text, isKnown)
  } catch (error) {
    if (error instanceof TextError) return []
    throw error
  }
}
