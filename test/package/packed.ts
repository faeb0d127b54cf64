/** Packages as they are published. Needs a build. Imports Node. */
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))
/** By the name of their directory. */
export const PACKAGES = ['reprise', 'workflow', 'jobs', 'dashboard', 'cli'] as const

export interface Packed {
  readonly tarball: string
  /** What is in it, by path. */
  readonly files: readonly string[]
}

export function pack(name: (typeof PACKAGES)[number], destination: string): Packed {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', destination]
  const output = execFileSync('npm', args, { cwd: path.join(root, 'packages', name), encoding: 'utf8', stdio: 'pipe' })
  const [{ filename, files }] = JSON.parse(output) as [{ filename: string; files: { path: string }[] }]
  return { tarball: path.join(destination, filename), files: files.map((file) => file.path) }
}
