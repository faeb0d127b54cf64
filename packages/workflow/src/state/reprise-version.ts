/** The version of reprise, which agents compare with that of the process that conducts their run. Imports Node. */
import { existsSync, readFileSync } from 'node:fs'

/** Beside `dist`, of any package of ours, and above `src`: all packages have one version. */
const MANIFESTS = ['../package.json', '../../package.json']

let known: string | undefined

export function repriseVersion(): string {
  known ??= readVersion()
  return known
}

function readVersion(): string {
  const manifest = MANIFESTS.map((name) => new URL(name, import.meta.url)).find((url) => existsSync(url))
  // A program whose bundler has taken this package in has no manifest of it.
  if (manifest === undefined) return 'unknown'
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string }).version
}
