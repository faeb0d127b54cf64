/**
 * Writes the JavaScript that is published; `tsc -b` writes the declarations beside it.
 *
 * The library becomes one `kernel.js` (core and runtime) and a small file per entry: many small modules cost import
 * time. Readable on purpose: users debug into it, and their bundlers minify. `npm run build` runs this after `tsc -b`.
 *
 * What a package names in `dependencies` stays an import; what it names in `devDependencies` becomes part of it, with its
 * licence. The command line takes in all but the library: somebody waits for each start, and `yaml` alone is 70 files
 * (35 ms to import as they are, 12 ms as part of a file).
 */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { build } from 'rolldown'

const LICENCES = 'third-party-licences.txt'

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
 * @param {{ input: Record<string, string>, platform: 'neutral' | 'node', chunks?: { name: string, test: RegExp }[], isPure?: boolean }} options
 */
async function bundle(name, { input, platform, chunks = [], isPure = false }) {
  const root = path.resolve('packages', name)
  for (const file of await readdir(`${root}/dist`)) {
    if (file.endsWith('.js') || file === LICENCES) await rm(`${root}/dist/${file}`)
  }
  const { output } = await build({
    cwd: root,
    input,
    platform,
    external: externals(await manifest(name)),
    // Sources of our own packages can be taken apart by who needs what; their bundles cannot.
    resolve: {
      extensionAlias: { '.js': ['.ts', '.js'] },
      conditionNames: ['reprise-source', 'import', 'node', 'default'],
    },
    plugins: isPure ? [markPureConstants] : [],
    output: {
      dir: 'dist',
      format: 'esm',
      chunkFileNames: '[name].js',
      minifyInternalExports: false,
      // What they say is in the declarations; here they would only be read at every import.
      comments: { annotation: true, legal: true, jsdoc: false },
      codeSplitting: chunks.length === 0 ? true : { groups: chunks },
    },
  })
  const modules = output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []))
  await writeLicences(`${root}/dist/${LICENCES}`, modules)
}

/** Of the packages that were taken in, their own words. @param {string} file @param {readonly string[]} modules */
async function writeLicences(file, modules) {
  const roots = new Set(modules.flatMap((id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id) ?? []))
  const texts = await Promise.all(
    [...roots].toSorted().map(async (root) => {
      const { name, version, license } = JSON.parse(await readFile(`${root}/package.json`, 'utf8'))
      return `${name} ${version} (${license})\n\n${(await readFile(`${root}/LICENSE`, 'utf8')).trim()}\n`
    }),
  )
  if (texts.length > 0) await writeFile(file, texts.join(`\n${'-'.repeat(80)}\n\n`))
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
  chunks: [{ name: 'kernel', test: /src[\\/](core|runtime)[\\/]/ }],
  isPure: true,
})
await bundle('workflow', { input: { index: 'src/index.ts' }, platform: 'node' })
await bundle('cli', {
  input: { main: 'src/main.ts' },
  platform: 'node',
  // Else every few lines that two commands share would be a file of their own.
  chunks: [
    { name: 'frame', test: /cli[\\/]src[\\/](exit-codes|failures|output-loss|version|write-failure)\.ts$/ },
    { name: 'print', test: /cli[\\/]src[\\/]output[\\/](duration|json|look|problems|style|table|width|wrap)\.ts$/ },
    { name: 'yaml', test: /node_modules[\\/]yaml[\\/]/ },
  ],
})
