/** Every program in examples/ runs to its end, on the sources. */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { ROOT } from './fences.js'

const directory = path.join(ROOT, 'examples')
/** What exports something is a part of the others. */
const isProgram = (name: string): boolean => !/^export /m.test(readFileSync(path.join(directory, name), 'utf8'))
const examples = readdirSync(directory).filter((name) => name.endsWith('.ts') && isProgram(name))

test('there are examples', () => {
  expect(examples).not.toEqual([])
})

test.concurrent.each(examples)('%s exits 0', async (name) => {
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, [
    '--conditions=reprise-source',
    '--import',
    'tsx',
    path.join(directory, name),
  ])
  expect(stdout).not.toBe('')
})
