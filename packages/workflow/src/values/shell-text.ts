/**
 * Shell text with references becomes shell text with variables of the environment: `echo ${item.name}` is run as
 * `echo "${__reprise_1}"`. A value is quoted by what surrounds it and never part of the program text, so that an item
 * named `$(rm -rf .)` is only a strange name. Where a shell would evaluate a value however it is quoted (arithmetic,
 * `eval`, the text of `sh -c`) the reference is refused.
 *
 * `${name}` is ours if the name is known; else, like `$NAME` and `${NAME:-x}`, the shell's own. `$${` is a `${` that is
 * handed on. Imports the scanner of shell text.
 */
import type { Reference } from './reference.js'
import { TextError } from './setup-error.js'
import { REFUSALS, type ShellContext, type ShellFind } from './shell-find.js'
import type { IsKnown } from './shell-reference.js'
import { scanShell } from './shell-scan.js'

export interface ShellProgram {
  readonly text: string
  /** What the environment must hold. */
  readonly variables: readonly ShellVariable[]
}

interface ShellVariable {
  /** `__reprise_1` … */
  readonly name: string
  readonly reference: Reference
  /** Of a list whose elements are words: which element it holds. */
  readonly element?: number
}

export interface ShellProblem {
  readonly problem: string
  readonly offset: number
}

/** The value in place of a reference, by what is around it. */
const PLACED: Readonly<Partial<Record<ShellContext, (variable: string) => string>>> = {
  plain: (variable) => `"${variable}"`,
  double: (variable) => variable,
  heredoc: (variable) => variable,
  single: (variable) => `'"${variable}"'`,
  dollar_single: (variable) => `'"${variable}"$'`,
}

/** What is at both ends of a word. */
const AROUND = /[\s;&|()<>]/
const NO_WORDS =
  'as a part of a word or within quotes: it stands for whole words; of a single element write `${list[0]}`'

/**
 * The program to run, or the first reference that cannot be in its place. `lengthOf`: how many elements the list has whose
 * elements are words.
 */
export function compileShell(
  text: string,
  isKnown: IsKnown,
  lengthOf: (list: Reference) => number = () => 1,
): ShellProgram | ShellProblem {
  if (!concernsUs(text, isKnown)) return { text, variables: [] }
  let finds: readonly ShellFind[]
  try {
    finds = scanShell(text, isKnown).toSorted((a, b) => a.start - b.start)
  } catch (error) {
    if (error instanceof TextError) return { problem: error.message, offset: error.offset }
    throw error
  }
  const variables = new Map<string, ShellVariable>()
  let compiled = ''
  let at = 0
  for (const { start, end, reference, context, refusal } of finds) {
    compiled += text.slice(at, start)
    at = end
    if (reference === null) {
      compiled += '${'
      continue
    }
    const place = PLACED[context]
    if (refusal !== null || place === undefined) {
      return { problem: `\`\${${reference.text}}\` cannot be used ${refusal ?? REFUSALS[context]}`, offset: start }
    }
    if (reference.areWords) {
      const isWhole = [text[start - 1], text[end]].every((char) => char === undefined || AROUND.test(char))
      if (context !== 'plain' || !isWhole) {
        return { problem: `\`\${${reference.text}}\` cannot be used ${NO_WORDS}`, offset: start }
      }
      const names = Array.from({ length: lengthOf(reference) }, (_, element) => `__reprise_${start}_${element + 1}`)
      for (const [element, name] of names.entries()) variables.set(name, { name, reference, element })
      compiled += names.map((name) => `"\${${name}}"`).join(' ')
      continue
    }
    let variable = variables.get(reference.text)
    if (!variable) variables.set(reference.text, (variable = { name: `__reprise_${variables.size + 1}`, reference }))
    compiled += place(`\${${variable.name}}`)
  }
  return { text: compiled + text.slice(at), variables: [...variables.values()] }
}

/** Most text has nothing of ours: what is wrong with it is for the shell to say. */
function concernsUs(text: string, isKnown: IsKnown): boolean {
  for (let at = text.indexOf('${'); at !== -1; at = text.indexOf('${', at + 2)) {
    if (text[at - 1] === '$' || text[at + 2] === '{') return true
    const name = /^\$\{[#!]?([A-Za-z_]\w*)(\.?)/.exec(text.slice(at, at + 200))
    if (name && (name[2] === '.' || isKnown(name[1]!))) return true
  }
  return false
}
