/** Commands to type next, as a shell takes them. Imports the settings' types and plain text. */
import { plainText } from 'reprise/observe'
import { DEFAULT_STORE, type Settings } from '../settings.js'
import type { World } from '../world.js'

/** `(['resume', run])` → `reprise resume nightly-7`. */
export type CommandWords = (words: readonly string[]) => string

/** With the store that was named, unless the next command finds it by itself. */
export function commandWords({ store }: Pick<Settings, 'store'>, env: World['env']): CommandWords {
  const isUsual = store === (env['REPRISE_STORE'] || DEFAULT_STORE)
  return (words) => ['reprise', ...words, ...(isUsual ? [] : ['--store', store])].map(shellWord).join(' ')
}

export const plainCommand: CommandWords = commandWords({ store: DEFAULT_STORE }, {})

/** Quoted, where it has to be. */
export function shellWord(word: string): string {
  const plain = plainText(word, 1000)
  return /^[\w./:@%+=,-]+$/.test(plain) ? plain : `'${plain.replaceAll("'", String.raw`'\''`)}'`
}
