import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { runProgram } from '../program.js'
import type { ProcessIo } from '../process-io.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-simulate-'))
afterAll(() => rmSync(directory, { recursive: true }))

function fileWith(name: string, text: string): string {
  const file = path.join(directory, name)
  writeFileSync(file, text)
  return file
}

const TINY = ['--clients', '5', '--capacity', '50', '--outage', '5s', '--compare', 'none']

async function run(args: readonly string[], env: ProcessIo['env'] = {}, columns?: number) {
  const written = { stdout: '', stderr: '' }
  const output = (name: 'stdout' | 'stderr') => ({
    write: (text: string) => (written[name] += text),
    ...(columns !== undefined && { isTTY: true, columns }),
  })
  const stdin = (async function* (): AsyncGenerator<string> {})()
  const code = await runProgram(args, { stdin, stdout: output('stdout'), stderr: output('stderr'), env })
  return { code, ...written }
}

test('a terminal sees blocks, colours and how far it is, and the last goes away', async () => {
  const { code, stdout, stderr } = await run(['simulate', ...TINY.slice(0, -1), 'no-retry'], {}, 80)
  expect(code).toBe(0)
  for (const mark of ['█', '━', '▸', '\u001b[32m']) expect(stdout).toContain(mark)
  expect(stderr).toContain('simulating none (2 of 2) …')
  expect(stderr.endsWith('\r\u001b[K')).toBe(true)
})

test('a terminal of 80 columns gets no longer line, whatever is compared', async () => {
  const { stdout } = await run(['simulate', ...TINY.slice(0, -1), 'all', '--color', 'never'], {}, 80)
  expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
})

test('a terminal that shows no blocks gets ASCII', async () => {
  const { stdout } = await run(['simulate', ...TINY, '--color', 'never'], { LANG: 'C' }, 80)
  expect(stdout).toContain('##')
  expect(stdout).not.toMatch(/[█░▸━]/)
})

test('a scenario that cannot be simulated is refused on a line of its own', async () => {
  const { code, stderr } = await run(['simulate', '--clients', '0'], {}, 80)
  expect(code).toBe(2)
  expect(stderr.startsWith('\r\u001b[K')).toBe(true)
  expect(stderr).toMatch(/: --clients: 0 is not a number from 1 to 100000\n$/)
})

test('a step of a workflow is simulated, and must be named where there are several', async () => {
  const file = fileWith(
    'flow.yaml',
    'retry_defaults: {attempt_timeout: 1s}\nsteps: [{id: a, shell: x, retry: 2}, {id: b, shell: x}]\n',
  )
  expect((await run(['simulate', file, 'a', ...TINY])).stdout).toContain('flow.yaml · step a')
  const several = await run(['simulate', file, ...TINY])
  expect(several).toMatchObject({ code: 2, stdout: '' })
  expect(several.stderr).toContain('has 2 steps, each with a policy of its own')
  expect(several.stderr).toContain('name one of them after the file: a, b')
  const single = fileWith('single.yaml', 'steps: [{id: only, shell: x, retry: 2}]\n')
  expect((await run(['simulate', single, ...TINY])).stdout).toContain('step only')
})

test('of very many steps the first are named', async () => {
  const steps = Array.from({ length: 40 }, (_, index) => `{id: s${index}, shell: x}`).join(', ')
  const { stderr } = await run(['simulate', fileWith('many.yaml', `steps: [${steps}]\n`)])
  expect(stderr).toMatch(/s11, …\n$/)
})

test('the picture is written beside the text, or instead of it', async () => {
  const file = path.join(directory, 'storm.svg')
  const beside = await run(['simulate', ...TINY, '--svg', file])
  expect(beside.stdout).toContain('policy')
  expect(beside.stderr).toBe(`${file} is written.\n`)
  const instead = await run(['simulate', ...TINY, '--svg', '-'])
  expect(instead).toMatchObject({ code: 0, stderr: '', stdout: readFileSync(file, 'utf8') })
})

test('what is left out of a picture is said', async () => {
  const file = path.join(directory, 'many.svg')
  const { stderr } = await run(['simulate', ...TINY.slice(0, -1), 'all', '--svg', file])
  expect(stderr).toMatch(/It shows 6 of the \d+ policies\.\n$/)
})

test('what to type next depends on what was typed', async () => {
  const next = async (...args: string[]): Promise<string> =>
    /next: (.*)$/s.exec((await run(['simulate', ...TINY, ...args])).stdout)?.[1]?.replaceAll(/\s+/g, ' ') ?? ''
  expect(await next()).toContain('`reprise simulate policy.yaml`')
  const storm = ['--attempts', '9', '--attempt-timeout', '1s', '--initial-delay', '10ms']
  expect(await next(...storm)).toContain('`--budget adaptive`')
  expect(await next(...storm, '--budget', 'ratio')).not.toContain('`--budget adaptive`')
})
