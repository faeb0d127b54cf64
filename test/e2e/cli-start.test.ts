/** What the built command line loads before it does anything: somebody waits for it at every start. Needs a build. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const dist = fileURLToPath(new URL('../../packages/cli/dist/', import.meta.url))
const textOf = (file: string): string => readFileSync(path.join(dist, file), 'utf8')

/** Modules that are loaded with a file, without those that are loaded when they are needed. */
function loadedWith(file: string, found: Set<string> = new Set()): Set<string> {
  for (const [, id = ''] of textOf(file).matchAll(/^(?:import|export)\b[^;]*?["']([^"']+)["'];$/gm)) {
    if (found.has(id)) continue
    found.add(id)
    if (id.startsWith('./')) loadedWith(id.slice(2), found)
  }
  return found
}

test('the version is said by a few lines, and Node', () => {
  const loaded = [...loadedWith('main.js')]
  expect(loaded.filter((id) => !id.startsWith('node:'))).toEqual(['./frame.js'])
  expect(textOf('main.js').length + textOf('frame.js').length).toBeLessThan(10_000)
})

test('a start loads neither the library nor a parser nor a command', () => {
  const loaded = [...loadedWith('program.js')]
  expect(loaded.filter((id) => id.startsWith('./')).toSorted()).toEqual(
    ['command-table', 'frame', 'table'].map((name) => `./${name}.js`),
  )
  expect(loaded.filter((id) => !id.startsWith('.') && !id.startsWith('node:'))).toEqual([])
})

test('a run loads a few files, and not the language of expressions', () => {
  const loaded = [...loadedWith('run.js')].filter((id) => id.startsWith('./'))
  expect(loaded.length).toBeLessThan(10)
  expect(loaded.some((id) => textOf(id.slice(2)).includes('cel-js'))).toBe(false)
})

test('a resume of a run does not load what jobs are made of', () => {
  expect([...loadedWith('resume.js')]).not.toContain('./jobs.js')
})

test('a list of runs loads neither what reads files nor what conducts runs', () => {
  const loaded = [...loadedWith('ps.js')].filter((id) => id.startsWith('./'))
  expect(loaded.length).toBeLessThan(7)
  for (const name of ['document', 'process', 'runs', 'jobs', 'explain', 'simulate']) {
    expect(loaded).not.toContain(`./${name}.js`)
  }
})

test('a worker loads the server when it serves metrics, and a command that asks a gate does not', () => {
  for (const command of ['worker.js', 'gate.js', 'submit.js'])
    expect([...loadedWith(command)]).not.toContain('./serve.js')
  expect(textOf('gate.js')).toMatch(/import\(".\/[\w-]+\.js"\)/)
})

test('a command that is not kept loads neither a ledger nor what reads files', () => {
  const texts = [...loadedWith('exec.js')].filter((id) => id.startsWith('./')).map((id) => textOf(id.slice(2)))
  expect(texts.some((text) => /\bclass SqliteLedger\b|\bSqliteLedger = class\b|\bLineCounter\b/.test(text))).toBe(false)
})

test('nothing but Node and the driver of SQLite is left to be found', () => {
  const files = readdirSync(dist).filter((file) => file.endsWith('.js'))
  const others = files.flatMap((file) => [...loadedWith(file)]).filter((id) => !/^(\.\/|node:)/.test(id))
  expect(others).toEqual([])
})

test('the licences of what was taken in are there', () => {
  const licences = textOf('third-party-licences.txt')
  for (const name of ['commander', 'hono', 'yaml']) expect(licences).toMatch(new RegExp(`^${name} \\d.*\\(`, 'm'))
})
