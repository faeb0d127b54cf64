/**
 * The packed files in an empty directory, installed without install scripts and without a compiler, on every line of
 * Node: the commands that README shows after installing, and the library from ES modules, CommonJS and TypeScript. Needs
 * a build.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { SqliteDriverName } from '../../packages/reprise/src/sqlite/driver.js'
import { otherNode, VERSIONS } from '../../scripts/other-node.mjs'
import { findFences } from '../docs/fences.js'
import { PACKAGES, pack, root } from './packed.js'

/** Which is used where nothing was installed by hand. */
const DRIVERS: Readonly<Record<(typeof VERSIONS)[number], SqliteDriverName>> = {
  '20.19.6': '@photostructure/sqlite',
  '22.12.0': '@photostructure/sqlite',
  '22.23.3': 'node:sqlite',
  '24.10.0': '@photostructure/sqlite',
  '24.21.0': 'node:sqlite',
}

/** What commands of the example need; no compiler, no `make`, no Python. */
const PROGRAMS = ['sh', 'env', 'cat', 'echo', 'printf', 'sleep', 'date', 'rm', 'mkdir', 'test', 'expr', 'grep', 'wc']

/** The fence of README that is for people who have just installed it. */
const README_COMMANDS = findFences(readFileSync(path.join(root, 'README.md'), 'utf8'), 'README.md')
  .filter(({ flags }) => flags.includes('installed'))
  .map(({ code }) => code)
  .join('')

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-install-'))
afterAll(() => rmSync(directory, { recursive: true }))
let tarballs: string[] = []
beforeAll(() => {
  tarballs = PACKAGES.map((name) => pack(name, directory).tarball)
})

/** Undefined where it cannot be had, but not in CI: there all versions are tested, and a missing one is a failure. */
function nodeOf(version: string): string | undefined {
  try {
    return otherNode(version)
  } catch (error) {
    if (process.env['CI'] === 'true') throw error
    return undefined
  }
}

interface Result {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** An empty project, and a PATH with what is installed in it, that Node and little else. */
class Project {
  readonly directory: string
  private readonly env: NodeJS.ProcessEnv

  constructor(node: string) {
    this.directory = mkdtempSync(path.join(directory, 'project-'))
    const bin = path.join(this.directory, 'path')
    mkdirSync(bin, { recursive: true })
    symlinkSync(node, path.join(bin, 'node'))
    for (const name of PROGRAMS) {
      const place = ['/bin', '/usr/bin'].map((one) => path.join(one, name)).find((file) => existsSync(file))
      if (place !== undefined) symlinkSync(place, path.join(bin, name))
    }
    const installed = path.join(this.directory, 'node_modules/.bin')
    this.env = { PATH: `${installed}${path.delimiter}${bin}`, HOME: this.directory, NO_COLOR: '1' }
    writeFileSync(path.join(this.directory, 'package.json'), '{ "private": true, "type": "module" }\n')
  }

  run(program: string, args: readonly string[], cwd = this.directory, env = this.env): Result {
    const { status, stdout, stderr } = spawnSync(program, args, { cwd, env, encoding: 'utf8' })
    return { code: status, stdout, stderr }
  }

  node(...args: string[]): Result {
    return this.run(path.join(this.directory, 'path/node'), args)
  }

  /** With the settings of npm of whoever runs the tests: a registry, a cache, a proxy. */
  install(): Result {
    const global = execFileSync('npm', ['root', '--global'], { encoding: 'utf8', stdio: 'pipe' }).trim()
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
    const args = [path.join(global, 'npm/bin/npm-cli.js'), 'install', ...flags, ...tarballs]
    const { PATH } = this.env
    return this.run(path.join(this.directory, 'path/node'), args, this.directory, { ...process.env, PATH })
  }
}

const DURABLE = `
  const durable = await openDurable('sqlite:./tasks.db')
  let calls = 0
  const task = durable.task('double', { initialDelay: 0 }, (n) => {
    if (++calls === 1) throw new Error('at first')
    return n * 2
  })
  console.log(await task.run(21, { id: 'a' }), calls)
  await durable.close()`

describe.each(VERSIONS)('on Node %s', { timeout: 120_000 }, (version) => {
  const driver = DRIVERS[version]
  const node = nodeOf(version)
  let project: Project
  let installed: Result

  beforeAll(() => {
    if (node === undefined) return
    project = new Project(node)
    installed = project.install()
  }, 300_000)
  beforeEach(({ skip }) => skip(node === undefined, 'this version cannot be installed here'))

  it('everything is installed without a compiler', () => {
    expect(installed.code, installed.stderr).toBe(0)
    expect(project.node('--version').stdout).toBe(`v${version}\n`)
    expect(project.run('sh', ['-c', 'command -v cc gcc g++ clang make python3']).stdout).toBe('')
  })

  it('the commands that README shows after installing work without a warning', () => {
    const { code, stdout, stderr } = project.run('sh', ['-e', '-c', README_COMMANDS])
    expect(code, stderr).toBe(0)
    expect(stdout).toContain('demo/workflow.yaml\ndemo/flaky.sh\n')
    expect(stderr).not.toMatch(/Warning/)
    const runs = project.run('reprise', ['ps', '--json'], path.join(project.directory, 'demo'))
    expect(JSON.parse(runs.stdout)).toMatchObject({ runs: [{ state: 'succeeded' }] })
    expect(project.run('reprise', ['__complete', 'runs'], path.join(project.directory, 'demo'))).toMatchObject({
      code: 0,
      stderr: '',
    })
  })

  it(`the ledger is written by ${driver}`, () => {
    const program = `
      import { openSqlite, SQLITE_DRIVERS } from 'reprise/sqlite'
      for (const driver of SQLITE_DRIVERS) {
        const ledger = await openSqlite('./which.db', { driver }).catch(() => undefined)
        await ledger?.close()
        if (ledger) { console.log(driver); break }
      }`
    expect(project.node('--input-type=module', '-e', program).stdout).toBe(`${driver}\n`)
  })

  it('durable tasks run in an ES module and in CommonJS', () => {
    const modules = { 'tasks.mjs': `import { openDurable } from 'reprise/durable'\n${DURABLE}` }
    const commonJs = {
      'tasks.cjs': `const { openDurable } = require('reprise/durable')\n;(async () => {${DURABLE}})()`,
    }
    for (const [name, text] of Object.entries({ ...modules, ...commonJs })) {
      rmSync(path.join(project.directory, 'tasks.db'), { force: true })
      writeFileSync(path.join(project.directory, name), text)
      const { code, stdout, stderr } = project.node(name)
      expect(code, stderr).toBe(0)
      expect(stdout, name).toBe('42 2\n')
    }
  })
})

describe('in TypeScript', () => {
  let project: Project
  beforeAll(() => {
    project = new Project(process.execPath)
    expect(project.install()).toMatchObject({ code: 0 })
  }, 300_000)

  const USE = `
    import { retry, type Timeline } from 'reprise'
    import { openDurable } from 'reprise/durable'
    import { openSqlite } from 'reprise/sqlite'
    import { prometheus } from 'reprise/observe'
    import { virtualClock } from 'reprise/testing'
    import { decide, type RetryState } from 'reprise/core'
    import { loadWorkflow, runWorkflow } from '@reprise/workflow'
    export const value: Promise<number> = retry(() => 42, { attempts: 3 })
    export const all = [openDurable, openSqlite, prometheus, virtualClock, decide, loadWorkflow, runWorkflow]
    export type { RetryState, Timeline }
  `
  /** With which a resolution may be used, and files that it takes. */
  const RESOLUTIONS = [
    { moduleResolution: 'node16', module: 'node16', files: ['use.mts'] },
    { moduleResolution: 'nodenext', module: 'nodenext', files: ['use.mts', 'use.cts'] },
    { moduleResolution: 'bundler', module: 'esnext', files: ['use.mts', 'use.cts'] },
  ]

  it.each(RESOLUTIONS)('types are found with $moduleResolution', { timeout: 60_000 }, ({ files, ...options }) => {
    const own = path.join(project.directory, options.moduleResolution)
    mkdirSync(own)
    for (const file of files) writeFileSync(path.join(own, file), USE)
    const compilerOptions = {
      ...options,
      target: 'es2023',
      lib: ['es2023', 'dom'],
      strict: true,
      noEmit: true,
      types: [],
    }
    writeFileSync(path.join(own, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
    const tsc = path.join(root, 'node_modules/typescript/bin/tsc')
    const { stdout, status } = spawnSync(process.execPath, [tsc, '-p', own], { encoding: 'utf8' })
    expect(stdout).toBe('')
    expect(status).toBe(0)
  })
})
