/**
 * A program of the tests as one file: a start through a compiler costs a second. Beside the packages, so that it finds
 * the drivers. Imports Node and the bundler.
 */
import { mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'rolldown'

export interface BundledProgram {
  readonly file: string
  remove(): void
}

/** `plugins`: what differs from the sources, such as a later version. */
export async function bundleProgram(source: URL, plugins: Plugin[] = []): Promise<BundledProgram> {
  const root = fileURLToPath(new URL('../', import.meta.url))
  const directory = path.join(root, 'node_modules/.cache/reprise-tests')
  mkdirSync(directory, { recursive: true })
  const input = fileURLToPath(source)
  const name = `${path.basename(input, '.ts')}-${process.pid}-${Math.random().toString(36).slice(2)}.mjs`
  const file = path.join(directory, name)
  await build({
    cwd: root,
    input,
    platform: 'node',
    external: /^node:|^pg$/,
    plugins,
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] }, conditionNames: ['reprise-source', 'import'] },
    output: { file, format: 'esm', codeSplitting: false },
    logLevel: 'warn',
  })
  return { file, remove: () => rmSync(file, { force: true }) }
}
