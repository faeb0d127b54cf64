/** What the documentation shows is true: every `ts` fence and `reprise` command line in README and docs is tried. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseAst } from 'rolldown/parseAst'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { testDatabase, type TestDatabase } from '../postgres/shared-server.js'
import { documentedFences, type Fence, findFences, ROOT, repriseCommands, shownIn } from './fences.js'
import { withoutPageSessions } from './page-session.js'

const fences = documentedFences()
const inLanguage = (...languages: string[]): Fence[] => fences.filter((fence) => languages.includes(fence.language))
const signatures = inLanguage('ts').filter((fence) => fence.flags.includes('signature'))
const programs = inLanguage('ts').filter((fence) => !fence.flags.includes('signature'))
const commands = withoutPageSessions(fences)
  .filter(({ language }) => ['sh', 'bash', 'console'].includes(language))
  .filter(({ flags }) => !flags.includes('no-run') && !flags.includes('installed'))
  // What it shows is compared, and so is how it ends, in output.test.ts.
  .filter((fence) => shownIn(fence) === undefined || repriseCommands(fence.code).length > 1)
  .flatMap((fence) => repriseCommands(fence.code).map((command) => ({ place: fence.place, command })))

const fenceDir = path.join(ROOT, 'test/docs/.fences')
const fileOf = (fence: Fence): string => path.join(fenceDir, `${fence.place.replaceAll(/[^\w-]+/g, '-')}.ts`)
const ledgerDir = mkdtempSync(path.join(tmpdir(), 'reprise-ledgers-'))
/** A program that keeps its ledger where it stands has a place of its own to stand. */
function inItsPlace(fence: Fence): string {
  if (!fence.code.includes('sqlite:./')) return fence.code
  const directory = path.join(ledgerDir, path.basename(fileOf(fence), '.ts'))
  mkdirSync(directory, { recursive: true })
  return fence.code.replaceAll('sqlite:./', `sqlite:${directory}/`)
}
const binDir = mkdtempSync(path.join(tmpdir(), 'reprise-bin-'))

let database: TestDatabase | undefined

beforeAll(async () => {
  if (programs.some(({ code }) => code.includes('DATABASE_URL'))) database = await testDatabase()
  if (database !== undefined) process.env['DATABASE_URL'] = database.url
  rmSync(fenceDir, { recursive: true, force: true })
  mkdirSync(fenceDir)
  for (const fence of programs) writeFileSync(fileOf(fence), `${inItsPlace(fence)}\nexport {}\n`)
  symlinkSync(path.join(ROOT, 'packages/cli/bin/reprise.js'), path.join(binDir, 'reprise'))
  for (const method of ['log', 'info', 'warn', 'error', 'table', 'dir'] as const) {
    vi.spyOn(console, method).mockImplementation(() => undefined)
  }
})

afterAll(async () => {
  vi.restoreAllMocks()
  delete process.env['DATABASE_URL']
  await database?.drop()
  rmSync(binDir, { recursive: true })
  rmSync(ledgerDir, { recursive: true })
})

test.runIf(programs.length > 0)('all ts fences compile', () => {
  const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc')
  const args = [tsc, '-b', 'test/docs/tsconfig.fences.json']
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' })
  expect(status, stdout + stderr).toBe(0)
})

test.each(programs)('ts at $place runs', async (fence) => {
  vi.resetModules()
  await import(fileOf(fence))
})

test.each(signatures)('ts signature at $place parses', ({ code }) => {
  parseAst(code, { lang: 'dts' })
})

test.each(commands)(
  '$place: $command exits 0',
  ({ command }) => {
    const store = `sqlite:${path.join(ledgerDir, 'ledger.db')}`
    const env = { ...process.env, PATH: `${binDir}${path.delimiter}${process.env['PATH']}`, REPRISE_STORE: store }
    execFileSync('sh', ['-c', command], { cwd: ROOT, env, stdio: 'pipe' })
  },
  180_000,
)

test('fences are found with their place, language and flags, also inside a list', () => {
  const text =
    'One\n\n```ts signature\ntype A = 1\n```\n\n- item\n\n  ```sh\n  $ npx reprise explain \\\n    a.yaml\n  ```\n'
  const [first, second] = findFences(text, 'a.md')
  expect(first).toEqual({ place: 'a.md:3', language: 'ts', flags: ['signature'], code: 'type A = 1\n' })
  expect(second?.place).toBe('a.md:9')
  expect(repriseCommands(second?.code ?? '')).toEqual(['reprise explain a.yaml'])
})
