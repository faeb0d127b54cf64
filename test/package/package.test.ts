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
/** Of bundles by what they import, minified and gzipped: a little above what they are. */
const MAX_BYTES = { '{ parseDuration }': 1_500, '{ retry }': 22_500, '*': 30_800 }
let tarball = ''
let packed: readonly string[] = []

beforeAll(() => {
  ;({ tarball, files: packed } = pack('reprise', project))
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'])
})

afterAll(() => rmSync(project, { recursive: true }))

/** What a user's bundler makes of `import { names } from 'reprise'`. */
async function bundleForBrowser(names: string): Promise<{ code: string; imports: string[] }> {
  const entry = path.join(project, 'entry.js')
  writeFileSync(entry, `export ${names} from 'reprise'\n`)
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

test('publint finds nothing', async () => {
  const { messages, pkg } = await publint({ pkgDir: installed, pack: false, strict: true })
  expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([])
})

test('the types are right for every resolution that an ES module has', () => {
  const attw = path.join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js')
  execFileSync(process.execPath, [attw, tarball, '--profile', 'esm-only'], { stdio: 'pipe' })
})

test('every entry can be imported', () => {
  const program = `for (const entry of ['', '/observe', '/simulate', '/durable', '/sqlite', '/postgres', '/testing']) await import('reprise' + entry)`
  execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: project, stdio: 'pipe' })
})

test.runIf(process.features.require_module)('require() works', () => {
  const args = ['--input-type=commonjs', '-p', `typeof require('reprise').retry`]
  expect(execFileSync(process.execPath, args, { cwd: project, encoding: 'utf8', stdio: 'pipe' })).toBe('function\n')
})

test('the root entry loads the kernel and nothing else', () => {
  const loaded = (file: string): string[] => {
    const text = readFileSync(path.join(installed, 'dist', file), 'utf8')
    return [...text.matchAll(/^(?:import|export)\b[^;]*?["']([^"']+)["'];$|\bimport\(["']([^"']+)["']\)/gm)].map(
      (match) => match[1] ?? match[2] ?? '',
    )
  }
  expect(loaded('index.js')).toEqual(['./kernel.js'])
  expect(loaded('kernel.js')).toEqual([])
})

test('the root entry bundles for the browser without a trace of Node', async () => {
  const { code, imports } = await bundleForBrowser('*')
  expect(imports).toEqual([])
  expect(code).not.toMatch(/\b(from|import|require)\s*\(?\s*["'`]node:|\brequire\(/)
})

test('a bundle holds only what is used, and does not grow unnoticed', async () => {
  const sizes: Record<string, number> = {}
  for (const names of Object.keys(MAX_BYTES)) {
    sizes[names] = gzipSync((await bundleForBrowser(names)).code).length
  }
  console.log('bytes, minified and gzipped:', sizes)
  for (const [names, limit] of Object.entries(MAX_BYTES)) expect(sizes[names], names).toBeLessThanOrEqual(limit)
})
