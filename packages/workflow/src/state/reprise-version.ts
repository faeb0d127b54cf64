/** The version of reprise, which agents compare with that of the process that conducts their run. Imports Node. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** Beside `dist`, of any package of ours, and above `src`: all packages have one version. */
const MANIFESTS = ['../package.json', '../../package.json']
const OURS = /^(?:@reprise\/.*|reprise)$/

/** Code that has no version, and cannot be read: equal to no other. */
export const UNKNOWN_VERSION = 'unknown'

let known: string | undefined

export function repriseVersion(): string {
  // Bundles in the format of CommonJS have no address of their own.
  const own: string | undefined = import.meta.url
  known ??= versionOf(own ?? process.argv[1] ?? '')
  return known
}

/**
 * The version of the code at this address or path. A program whose bundler has taken this package in has another manifest
 * beside it, or none: its version is a hash of the file, which two programs share if their code is the same.
 */
export function versionOf(own: string): string {
  for (const name of MANIFESTS) {
    const manifest = own.startsWith('file:') ? read(new URL(name, own)) : undefined
    if (manifest === undefined) continue
    const { name: owner = '', version = '' } = parsed(manifest)
    if (OURS.test(owner)) return version
  }
  const code = read(own.startsWith('file:') ? new URL(own) : own)
  if (code === undefined) return UNKNOWN_VERSION
  return `code-${createHash('sha256').update(code).digest('hex').slice(0, 12)}`
}

function read(file: URL | string): Buffer | undefined {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}

/** A manifest that is none of ours may be anything. */
function parsed(text: Buffer): { readonly name?: string; readonly version?: string } {
  try {
    return (JSON.parse(text.toString()) ?? {}) as { readonly name?: string; readonly version?: string }
  } catch {
    return {}
  }
}
