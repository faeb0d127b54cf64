/**
 * Writes the JavaScript that is published; `tsc -b` writes the declarations beside it.
 *
 * The library becomes one `kernel.js` (core and runtime) and a small file per entry: many small modules cost import
 * time. Readable on purpose: users debug into it, and their bundlers minify. `npm run build` runs this after `tsc -b`.
 */
import { readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { build } from 'rolldown'

/** @param {string} name */
const manifest = async (name) => JSON.parse(await readFile(`packages/${name}/package.json`, 'utf8'))

/** Every dependency and built-in stays an import. @param {Record<string, Record<string, string>>} pkg */
function externals(pkg) {
  const names = Object.keys({ ...pkg.dependencies, ...pkg.peerDependencies })
  /** @param {string} id */
  return (id) => id.startsWith('node:') || names.some((name) => id === name || id.startsWith(`${name}/`))
}

/**
 * No module of the library has side effects when loaded, so a constant that nobody reads may go with the call that makes
 * it. Bundlers only believe that of a call which says so.
 */
const markPureConstants = {
  name: 'mark-pure-constants',
  /** @param {string} code */
  renderChunk: (code) => code.replace(/^((?:const|let|var) \w+ = )(?=(?:new )?[\w.]+\()/gm, '$1/* @__PURE__ */ '),
}

/**
 * @param {string} name of the package's directory
 * @param {{ input: Record<string, string>, platform: 'neutral' | 'node', kernel?: RegExp }} options
 */
async function bundle(name, { input, platform, kernel }) {
  const root = path.resolve('packages', name)
  for (const file of [...Object.keys(input), 'kernel']) await rm(`${root}/dist/${file}.js`, { force: true })
  await build({
    cwd: root,
    input,
    platform,
    external: externals(await manifest(name)),
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    plugins: kernel === undefined ? [] : [markPureConstants],
    output: {
      dir: 'dist',
      format: 'esm',
      chunkFileNames: '[name].js',
      minifyInternalExports: false,
      // What they say is in the declarations; here they would only be read at every import.
      comments: { annotation: true, legal: true, jsdoc: false },
      codeSplitting: kernel === undefined ? true : { groups: [{ name: 'kernel', test: kernel }] },
    },
  })
}

await bundle('reprise', {
  input: {
    index: 'src/index.ts',
    observe: 'src/observe/index.ts',
    simulate: 'src/simulate/index.ts',
    durable: 'src/open/index.ts',
    sqlite: 'src/sqlite/index.ts',
    testing: 'src/testing/index.ts',
  },
  platform: 'neutral',
  kernel: /src[\\/](core|runtime)[\\/]/,
})
await bundle('workflow', { input: { index: 'src/index.ts' }, platform: 'node' })
await bundle('cli', { input: { main: 'src/main.ts' }, platform: 'node' })
