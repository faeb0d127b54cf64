/** Which `${…}` in shell text are ours, and which the shell's own. Imports references. */
import { NAMESPACES, readReference, type ReferenceFound } from './reference.js'
import type { ShellContext } from './shell-find.js'

/** Whether a name is one of ours: else `${name}` is the shell's own. */
export type IsKnown = (name: string) => boolean

/** Where the shell expands nothing. */
export const LITERAL: ReadonlySet<ShellContext> = new Set<ShellContext>(['single', 'dollar_single', 'quoted_heredoc'])

/** The shell's own work on a variable: `${name%.txt}`, `${#name}`. */
const WORK = /\$\{[#!]?([A-Za-z_]\w*)(?=[-:=?+#%/^,@[}*])/y

/** The reference at `at`, if it is ours. */
export function ourReference(
  text: string,
  at: number,
  context: ShellContext,
  isKnown: IsKnown,
): ReferenceFound | undefined {
  const isLiteral = LITERAL.has(context)
  const found = isLiteral ? tryReference(text, at, true) : (wordsAt(text, at) ?? tryReference(text, at, false))
  if (!found) return undefined
  const [root, second] = found.reference.path
  const isNamespace = NAMESPACES.has(root)
  if (second === undefined) return !isNamespace && isKnown(root) ? found : undefined
  if (isNamespace || isKnown(root)) return found
  // `${a.b}` means nothing to a shell; within single quotes it may mean something to another program.
  return typeof second === 'string' && !isLiteral ? found : undefined
}

/** The name of ours that the shell is asked to work on, which it cannot; undefined for its own. */
export function workedOn(text: string, at: number, context: ShellContext, isKnown: IsKnown): string | undefined {
  if (LITERAL.has(context)) return undefined
  WORK.lastIndex = at
  const name = WORK.exec(text)?.[1]
  return name !== undefined && !NAMESPACES.has(name) && isKnown(name) ? name : undefined
}

/** `${hosts[*]}`: the elements of a list. */
const WORDS = /\$\{([^{}\s]+)\[\*\]\}/y

function wordsAt(text: string, at: number): ReferenceFound | undefined {
  WORDS.lastIndex = at
  const [whole = '', list = ''] = WORDS.exec(text) ?? []
  const found = whole === '' ? undefined : tryReference(`\${${list}}`, 0, true)
  if (found === undefined) return undefined
  const { path } = found.reference
  return { reference: { text: `${list}[*]`, path, areWords: true }, end: at + whole.length }
}

function tryReference(text: string, at: number, isLiteral: boolean): ReferenceFound | undefined {
  try {
    return readReference(text, at)
  } catch (error) {
    // Not of our form: the shell's own. `${{` is nobody's.
    if (isLiteral || !text.startsWith('${{', at)) return undefined
    throw error
  }
}
