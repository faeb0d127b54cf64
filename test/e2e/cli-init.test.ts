/** `reprise init`: what it writes works at once, and it never writes over anything. Needs a build. */
import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { root, CliFixture } from '../workflow/cli-fixture.js'

let fixture: CliFixture
beforeEach(() => {
  fixture = new CliFixture()
})
afterEach(() => fixture.remove())

/** A command that was printed, as somebody types it. */
function type(command: string, cwd: string): Promise<{ code: number; stdout: string; stderr: string }> {
  const bin = `'${process.execPath}' '${path.join(root, 'packages/cli/bin/reprise.js')}'`
  const typed = command.replace(/^reprise/, bin).replace(/^node/, `'${process.execPath}'`)
  return new Promise((resolve) =>
    execFile('sh', ['-c', typed], { cwd, env: { ...process.env, NO_COLOR: '1' } }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
    ),
  )
}

interface Told {
  readonly files: readonly string[]
  readonly next: readonly string[]
}

async function told(...args: string[]): Promise<Told> {
  const { code, stdout, stderr } = await fixture.reprise('init', ...args, '--json')
  expect(code, stderr).toBe(0)
  return JSON.parse(stdout) as Told
}

describe('a workflow', () => {
  test('is valid, runs, and a step of it recovers', async () => {
    const { code, stdout, stderr } = await fixture.reprise('init', 'demo')
    expect(code).toBe(0)
    expect(stdout).toBe('demo/workflow.yaml\ndemo/flaky.sh\n')
    expect(stderr).toBe('next: cd demo\nnext: reprise run workflow.yaml\nnext: reprise logs\n')
    const demo = fixture.path('demo')
    const valid = await type('reprise validate workflow.yaml', demo)
    expect(valid).toEqual({ code: 0, stdout: 'workflow.yaml: ok, 2 steps\n', stderr: '' })
    const ran = await type('reprise run workflow.yaml', demo)
    expect(ran.code, ran.stderr).toBe(0)
    expect(ran.stderr).toContain('ok fetch (recovered at attempt 3/5')
    const explained = await type('reprise explain workflow.yaml fetch', demo)
    expect(explained.stdout).not.toContain('hint:')
  })

  test('is written where somebody stands, unless they say where to', async () => {
    expect(await told()).toEqual({
      files: ['workflow.yaml', 'flaky.sh'],
      next: ['reprise run workflow.yaml', 'reprise logs'],
    })
    expect((await type('reprise run workflow.yaml', fixture.directory)).code).toBe(0)
    expect((await told('a b/c')).next[0]).toBe("cd 'a b/c'")
    expect(fixture.has('a b/c/workflow.yaml')).toBe(true)
  })
})

describe('a workflow over many items', () => {
  test('is valid, explained without a hint, shown, and runs: one item recovers, one is left', async () => {
    const { files, next } = await told('demo', '--template', 'mapreduce')
    expect(files).toEqual(['demo/workflow.yaml', 'demo/orders.json', 'demo/import.sh'])
    expect(next).toEqual(['cd demo', 'reprise run workflow.yaml', 'reprise show'])
    const demo = fixture.path('demo')
    const valid = await type('reprise validate workflow.yaml', demo)
    expect(valid).toEqual({ code: 0, stdout: 'workflow.yaml: ok, 2 steps\n', stderr: '' })
    const explained = await type('reprise explain workflow.yaml map', demo)
    expect(explained.stdout).toContain('It is started up to 4 times for one item')
    expect(explained.stdout).not.toContain('hint:')
    const shown = await type('reprise run workflow.yaml --dry-run', demo)
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('for each item of orders.json') as string })
    const ran = await type('reprise run workflow.yaml', demo)
    expect(ran.code, ran.stderr).toBe(3)
    expect(ran.stderr).toContain('order 5: the amount twelve is not a number')
    expect(ran.stderr).toContain('1 recovered')
  })
})

describe('a job', () => {
  test('is valid, runs here, recovers at one datacenter and succeeds without another', async () => {
    const { files, next } = await told('demo', '--template', 'job')
    expect(files).toEqual(['demo/job.yaml', 'demo/probe.sh'])
    expect(next).toEqual(['cd demo', 'reprise job run job.yaml', 'reprise job status latest'])
    const demo = fixture.path('demo')
    const valid = await type('reprise validate job.yaml', demo)
    expect(valid).toEqual({ code: 0, stdout: 'job.yaml: ok, a job of 2 workflows\n', stderr: '' })
    expect((await type('reprise explain job.yaml', demo)).stdout).toContain('6 first attempts')
    const ran = await type('reprise job run job.yaml', demo)
    expect(ran.code, ran.stderr).toBe(0)
    expect(ran.stdout).toContain('partial, success')
    expect(ran.stdout).toContain('ap/login after 4 attempts: workflow_budget_exhausted')
    const looked = await type('reprise job status latest', demo)
    expect(looked.stdout).toMatch(/login +\+ ok +\+ ok, 2 tries +x failed, 4 tries/)
    expect(looked.stdout).toContain('retries 4/6')
  })
})

describe('a program', () => {
  test('runs against the built library, and its call recovers', async () => {
    const { files, next } = await told('demo', '--template', 'library')
    expect(files).toEqual(['demo/example.mjs'])
    expect(next).toEqual(['cd demo', 'npm install reprise', 'node example.mjs'])
    mkdirSync(fixture.path('node_modules'))
    symlinkSync(path.join(root, 'packages/reprise'), fixture.path('node_modules/reprise'))
    const { code, stdout, stderr } = await type('node example.mjs', fixture.path('demo'))
    expect(code, stderr).toBe(0)
    expect(stdout).toMatch(
      /^attempt 1: failure\nattempt 2: failure, after .*\nattempt 3: success, after .*\nthe price is 42\n$/,
    )
  })
})

describe('what is there', () => {
  test.each(['workflow.yaml', 'flaky.sh'])('stays as it is: with %s nothing is written', async (name) => {
    fixture.write(name, 'mine')
    const { code, stdout, stderr } = await fixture.reprise('init')
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' })
    expect(stderr).toBe(`refused: ${name} is there already: nothing was written.\n  next: reprise init demo\n`)
    expect(readdirSync(fixture.directory)).toEqual([name])
    expect(fixture.read(name)).toBe('mine')
  })

  test('is refused as data too', async () => {
    mkdirSync(fixture.path('demo'))
    fixture.write('demo/example.mjs', 'mine')
    const { code, stdout } = await fixture.reprise('init', 'demo', '--template', 'library', '--json')
    expect(code).toBe(4)
    expect(JSON.parse(stdout)).toMatchObject({
      refused: { kind: 'not_possible', message: expect.stringContaining('demo/example.mjs') as string },
    })
    expect(JSON.parse(stdout)).toMatchObject({ refused: { next: ['reprise init demo/demo --template library'] } })
  })

  test('is also a link that leads nowhere, and a file in the place of the directory', async () => {
    symlinkSync('nowhere', fixture.path('workflow.yaml'))
    expect((await fixture.reprise('init')).code).toBe(4)
    writeFileSync(fixture.path('demo'), 'mine')
    const { code, stderr } = await fixture.reprise('init', 'demo')
    expect(code).toBe(4)
    expect(stderr).toContain('demo is there already, and is no directory')
    expect(readFileSync(fixture.path('demo'), 'utf8')).toBe('mine')
    expect(readdirSync(fixture.directory).toSorted()).toEqual(['demo', 'workflow.yaml'])
  })

  test('beside it does not matter', async () => {
    fixture.write('other.txt', 'mine')
    expect((await fixture.reprise('init')).code).toBe(0)
    expect(readdirSync(fixture.directory).toSorted()).toEqual(['flaky.sh', 'other.txt', 'workflow.yaml'])
  })
})

test.runIf(process.platform === 'linux')('a directory that cannot be made is named, and nothing is left', async () => {
  symlinkSync('/proc', fixture.path('proc'))
  const { code, stderr } = await fixture.reprise('init', 'proc/demo')
  expect(code).toBe(74)
  expect(stderr).toContain('proc/demo: error: cannot be made: there is no such directory')
})

test('an unknown template is wrong usage, and those that there are are named', async () => {
  const { code, stderr } = await fixture.reprise('init', '--template', 'librar')
  expect(code).toBe(2)
  expect(stderr).toContain('shell, mapreduce, job, library')
  expect(readdirSync(fixture.directory)).toEqual([])
})
