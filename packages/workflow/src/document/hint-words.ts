/** How hints are written: by word, without case, dashes and underscores. Imports types only. */
import type { ValueKind } from './shape-words.js'

/** By word, what to write instead. */
export type Hints = Readonly<Record<string, string>>

/** What a value would be in the form that is wanted. */
export type Form = (value: unknown, kind: ValueKind) => string | undefined

export function meaning(name: string, aliases: string): Hints {
  return said(`did you mean \`${name}\`?`, aliases)
}

/** `aliases`: other words for the one name. */
export function under(parent: string, names: string, aliases?: string): Hints {
  if (aliases !== undefined) return said(`write it under \`${parent}:\`: \`${parent}: {${names}: …}\``, aliases)
  const entries = names.split(' ').map((name): [string, string] => {
    return [name.replaceAll('_', ''), `write it under \`${parent}:\`: \`${parent}: {${name}: …}\``]
  })
  return Object.fromEntries(entries)
}

export function said(hint: string, words: string): Hints {
  return Object.fromEntries(words.split(' ').map((word) => [word, hint]))
}
