/**
 * Bundles the library and the programs of this directory as users would run them: plain JavaScript, without a loader.
 * Beneath `node_modules`, where the driver is found.
 */
import { readdir, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

const directory = fileURLToPath(new URL('.', import.meta.url))
export const OUT = fileURLToPath(new URL('../../node_modules/.cache/reprise-bench-postgres/', import.meta.url))

/** `from`: this directory of another build of the library. */
export async function bundle(from = directory, out = OUT) {
  const files = await readdir(from)
  const programs = files.filter((name) => name.endsWith('-child.ts')).map((name) => name.slice(0, -3))
  await rm(out, { recursive: true, force: true })
  await build({
    cwd: from,
    input: Object.fromEntries(programs.map((name) => [name, `${name}.ts`])),
    platform: 'node',
    external: (/** @type {string} */ id) => id.startsWith('node:') || id === 'pg',
    resolve: {
      extensionAlias: { '.js': ['.ts', '.js'] },
      conditionNames: ['reprise-source', 'import', 'node', 'default'],
    },
    output: {
      dir: out,
      format: 'esm',
      chunkFileNames: '[name].js',
      comments: { annotation: true, legal: true, jsdoc: false },
    },
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle()
