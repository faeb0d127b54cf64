/** The library as it is published: packed, unpacked into an empty project, and used from there. Needs a build. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { build } from 'rolldown'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pack, root } from './packed.js'

const project = mkdtempSync(path.join(tmpdir(), 'reprise-package-'))
const installed = path.join(project, 'node_modules/reprise')
const PUBLISHED = ['reprise', 'workflow', 'jobs', 'dashboard'] as const
const scoped = path.join(project, 'node_modules/@reprise')
const directoryOf = {
  reprise: installed,
  workflow: path.join(scoped, 'workflow'),
  jobs: path.join(scoped, 'jobs'),
  dashboard: path.join(scoped, 'dashboard'),
}
/** Of bundles by what they import, minified and gzipped: a little above what they are. */
const MAX_BYTES = {
  "{ parseDuration } from 'reprise'": 1_200,
  "{ retry } from 'reprise/slim'": 5_000,
  "{ retry } from 'reprise'": 25_850,
  "* from 'reprise'": 35_650,
  "{ admit, advance, decide, initialState } from 'reprise/core'": 2_500,
}
const tarballs = { reprise: '', workflow: '', jobs: '', dashboard: '' }
let packed: readonly string[] = []
const manifest = JSON.parse(readFileSync(path.join(root, 'packages/reprise/package.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, unknown>>
}
const ENTRIES = Object.keys(manifest.exports)
  .filter((subpath) => subpath !== './package.json')
  .map((subpath) => `reprise${subpath.slice(1)}`)

beforeAll(() => {
  for (const name of PUBLISHED) {
    const { tarball, files } = pack(name, project)
    if (name === 'reprise') packed = files
    tarballs[name] = tarball
    mkdirSync(directoryOf[name], { recursive: true })
    execFileSync('tar', ['-xzf', tarball, '-C', directoryOf[name], '--strip-components=1'])
  }
  // `npm pack` takes seconds for each on a busy machine.
}, 90_000)

afterAll(() => rmSync(project, { recursive: true }))

/** What a user's bundler makes of what is imported, such as `{ retry } from 'reprise'`. */
async function bundleForBrowser(imported: string): Promise<{ code: string; imports: string[] }> {
  const entry = path.join(project, 'entry.js')
  writeFileSync(entry, `export ${imported}\n`)
  const { output } = await build({ input: entry, platform: 'browser', write: false, output: { minify: true } })
  const imports = output.flatMap((chunk) => (chunk.type === 'chunk' ? [...chunk.imports, ...chunk.dynamicImports] : []))
  return { code: output.map((chunk) => (chunk.type === 'chunk' ? chunk.code : '')).join('\n'), imports }
}

test('only code, declarations and documents are packed', () => {
  expect(packed).toContain('LICENSE')
  expect(
    packed.filter((file) => !/^(dist\/[\w-]+\.js|dist\/types\/.+\.d\.ts|package\.json|[A-Z]+(\.md)?)$/.test(file)),
  ).toEqual([])
})

test.each(PUBLISHED)('publint finds nothing in packages/%s', async (name) => {
  const { messages, pkg } = await publint({ pkgDir: directoryOf[name], pack: false, strict: true })
  expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([])
})

test.each(PUBLISHED)('types of packages/%s are right for every resolution of ES modules', (name) => {
  const attw = path.join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js')
  execFileSync(process.execPath, [attw, tarballs[name], '--profile', 'esm-only'], { stdio: 'pipe' })
})

test('every entry can be imported', () => {
  const program = `for (const entry of ${JSON.stringify(ENTRIES)}) await import(entry)`
  execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: project, stdio: 'pipe' })
})

test.runIf(process.features.require_module)('every entry can be required', () => {
  const program = `for (const entry of ${JSON.stringify(ENTRIES)}) require(entry); typeof require('reprise').retry`
  const args = ['--input-type=commonjs', '-p', program]
  expect(execFileSync(process.execPath, args, { cwd: project, encoding: 'utf8', stdio: 'pipe' })).toBe('function\n')
})

test('the root entry, the slim one and the core load the kernel and nothing else', () => {
  const loaded = (file: string): string[] => {
    const text = readFileSync(path.join(installed, 'dist', file), 'utf8')
    return [...text.matchAll(/^(?:import|export)\b[^;]*?["']([^"']+)["'];$|\bimport\(["']([^"']+)["']\)/gm)].map(
      (match) => match[1] ?? match[2] ?? '',
    )
  }
  expect(loaded('index.js')).toEqual(['./kernel.js'])
  expect(loaded('slim.js')).toEqual(['./kernel.js'])
  expect(loaded('core.js')).toEqual(['./kernel.js'])
  expect(loaded('kernel.js')).toEqual([])
})

test.each(['reprise', 'reprise/slim', 'reprise/core'])(
  '%s bundles for the browser without a trace of Node',
  async (entry) => {
    const { code, imports } = await bundleForBrowser(`* from '${entry}'`)
    expect(imports).toEqual([])
    expect(code).not.toMatch(/\b(from|import|require)\s*\(?\s*["'`]node:|\brequire\(/)
  },
)

test('a bundle holds only what is used, and does not grow unnoticed', async () => {
  const sizes: Record<string, number> = {}
  for (const imported of Object.keys(MAX_BYTES)) {
    sizes[imported] = gzipSync((await bundleForBrowser(imported)).code).length
  }
  console.log('bytes, minified and gzipped:', sizes)
  for (const [imported, limit] of Object.entries(MAX_BYTES)) {
    expect(sizes[imported], imported).toBeLessThanOrEqual(limit)
  }
})
