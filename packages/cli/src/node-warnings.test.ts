/** Which warnings of Node are left out. */
import { expect, it } from 'vitest'
import { hideSqliteWarning } from './node-warnings.js'

function shown(...warning: [string | Error, ...unknown[]]): unknown[][] {
  const seen: unknown[][] = []
  const host = { emitWarning: (...given: unknown[]) => void seen.push(given) }
  hideSqliteWarning(host)
  host.emitWarning(...warning)
  return seen
}

it('leaves out that the SQLite of Node is experimental', () => {
  expect(shown('SQLite is an experimental feature and might change at any time', 'ExperimentalWarning')).toEqual([])
})

it.each([
  ['Importing WebAssembly modules is an experimental feature', 'ExperimentalWarning', 'CODE'],
  ['SQLite is an experimental feature of another program', 'Warning'],
  [new Error('SQLite is an experimental feature')],
] as [string | Error, ...unknown[]][])('shows any other as it was given: %s', (...warning) => {
  expect(shown(...warning)).toEqual([warning])
})
