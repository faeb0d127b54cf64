/** Commands to type next, as a shell takes them. Imports the settings' types and plain text. */
import { DEFAULT_STORE, storeWithoutPassword } from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import type { Settings } from '../settings.js'
import type { ProcessIo } from '../process-io.js'

/** `(['resume', run])` → `reprise resume nightly-7`. */
export type CommandWords = (words: readonly string[]) => string

/** Starts the program as it was started, with the store that was named, but for the password in its address. */
export function commandWords({ store }: Pick<Settings, 'store'>, env: ProcessIo['env']): CommandWords {
  const isFound = store === (env['REPRISE_STORE'] || DEFAULT_STORE)
  const named = isFound ? [] : ['--store', storeWithoutPassword(store)]
  return (words) => [...programWords(env), ...words, ...named].map(shellWord).join(' ')
}

export const plainCommand: CommandWords = commandWords({ store: DEFAULT_STORE }, {})

/**
 * A program that npm has started need not be on the PATH of the shell in which the next command is typed. npm names the
 * command it runs, and the script for `npm run`; pnpm and yarn name the script only.
 */
function programWords(env: ProcessIo['env']): readonly string[] {
  const isByNpm = env['npm_command'] === 'exec' || env['npm_lifecycle_event'] !== undefined
  if (!isByNpm) return ['reprise']
  // Fetched for this one call: `npx reprise` would fetch the package of that name, which is the library.
  const isFetched = /[\\/]_npx[\\/]/.test(env['PATH'] ?? env['Path'] ?? '')
  return ['npx', isFetched ? '@reprise/cli' : 'reprise']
}

/** Quoted, where it has to be. */
export function shellWord(word: string): string {
  const plain = plainText(word, 1000)
  return /^[\w./:@%+=,-]+$/.test(plain) ? plain : `'${plain.replaceAll("'", String.raw`'\''`)}'`
}
