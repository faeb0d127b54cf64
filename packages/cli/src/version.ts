/** The version of this package. Imports Node. */
import { readFileSync } from 'node:fs'

/** From beside `dist` or `src`. */
export function ownVersion(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { readonly version: string }).version
}
