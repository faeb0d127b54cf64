/** Commands to type next, as a shell takes them. Imports the settings' types and plain text. */
import { plainText } from 'reprise/observe'
import { DEFAULT_STORE, type Settings } from '../settings.js'
import type { World } from '../world.js'
import { storeWithoutPassword } from './store-address.js'

/** `(['resume', run])` → `reprise resume nightly-7`. */
export type CommandWords = (words: readonly string[]) => string

/** With the store that was named, but for its password, unless the next command finds it by itself. */
export function commandWords({ store }: Pick<Settings, 'store'>, env: World['env']): CommandWords {
  const isUsual = store === (env['REPRISE_STORE'] || DEFAULT_STORE)
  const named = isUsual ? [] : ['--store', storeWithoutPassword(store)]
  return (words) => ['reprise', ...words, ...named].map(shellWord).join(' ')
}

export const plainCommand: CommandWords = commandWords({ store: DEFAULT_STORE }, {})

/** Quoted, where it has to be. */
export function shellWord(word: string): string {
  const plain = plainText(word, 1000)
  return /^[\w./:@%+=,-]+$/.test(plain) ? plain : `'${plain.replaceAll("'", String.raw`'\''`)}'`
}
