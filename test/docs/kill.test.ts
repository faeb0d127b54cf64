/** The first program of docs/durable-tasks.md, killed as the page says, goes on as the page says. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { findFences, ROOT } from './fences.js'

const page = 'docs/durable-tasks.md'
const fences = findFences(readFileSync(path.join(ROOT, page), 'utf8'), page)
const program = fences.find(({ language }) => language === 'ts')?.code ?? ''
const shown = fences.find(({ language }) => language === 'text')?.code.trim() ?? ''

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-kill-'))
afterAll(() => rmSync(directory, { recursive: true }))

/** Runs the program where it keeps its file; kills it as soon as it has printed all of `until`. Answers with what it printed. */
async function run(until: readonly string[] = []): Promise<{ output: string; signal: NodeJS.Signals | null }> {
  const args = ['--conditions=reprise-source', '--import', 'tsx', 'program.ts']
  const child = spawn(process.execPath, args, { cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    if (until.length > 0 && until.every((line) => output.includes(line))) child.kill('SIGKILL')
  })
  const signal = await new Promise<NodeJS.Signals | null>((resolve) =>
    child.once('close', (_code, killedBy) => resolve(killedBy)),
  )
  return { output: output.trim(), signal }
}

/** Tasks run beside each other: of their lines only the order within a task is known. */
const linesOf = (output: string, start: string): string[] => output.split('\n').filter((line) => line.startsWith(start))

test('the first program goes on after a kill as the page shows, and runs nothing the third time', async () => {
  writeFileSync(path.join(directory, 'program.ts'), program)
  writeFileSync(path.join(directory, 'package.json'), '{ "type": "module" }')
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(directory, 'node_modules'))

  const first = await run(['ship/order-1: attempt 2', 'ship/order-2: attempt 2'])
  expect(first.signal).toBe('SIGKILL')
  const second = await run()
  for (const start of ['ship/order-1', 'ship/order-2', '[']) {
    expect(linesOf(second.output, start)).toEqual(linesOf(shown, start))
  }
  expect(linesOf(second.output, 'taken over: 2')).toHaveLength(1)
  const third = await run()
  expect(third.output).toBe(`taken over: 0\n${linesOf(shown, '[')[0]}`)
})
