import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { statePathFor } from './state-path.js'

const NOTHING = {}
const directoryOf = (store: string, environment: Record<string, string> = NOTHING): string =>
  statePathFor(store, '/here', environment)

test('the default store has its logs in the directory it is in, another file in one with its name', () => {
  expect(directoryOf('sqlite:.reprise/ledger.db')).toBe('/here/.reprise')
  expect(directoryOf('sqlite:.reprise/other.db')).toBe('/here/.reprise/sqlite-other.db')
  expect(directoryOf('sqlite:/data/ledger.db')).toBe('/data/.reprise/sqlite-ledger.db')
  expect(directoryOf('sqlite:./ledger.db')).toBe('/here/.reprise/sqlite-ledger.db')
  expect(directoryOf('memory:')).toBe('/here/.reprise')
  expect(directoryOf('postgres://[')).toBe('/here/.reprise')
})

test('a SQLite file that is named by a symbolic link has the directory of the file', () => {
  const here = realpathSync(mkdtempSync(path.join(tmpdir(), 'reprise-state-path-')))
  try {
    mkdirSync(path.join(here, 'data'))
    // The file does not exist yet: SQLite makes it where the link leads.
    symlinkSync('data/runs.db', path.join(here, 'current.db'))
    symlinkSync('current.db', path.join(here, 'alias.db'))
    symlinkSync('loop.db', path.join(here, 'loop.db'))
    const own = path.join(here, 'data/.reprise/sqlite-runs.db')
    for (const name of ['data/runs.db', 'current.db', 'alias.db'])
      expect(statePathFor(`sqlite:${name}`, here)).toBe(own)
    expect(statePathFor('sqlite:loop.db', here)).toBe(path.join(here, '.reprise/sqlite-loop.db'))
  } finally {
    rmSync(here, { recursive: true })
  }
})

test('every ledger on a server has a directory of its own', () => {
  const stores = [
    'postgres://db.example/orders',
    'postgres://db.example/orders?schema=team_a',
    'postgres://db.example/orders?schema=team_b',
    'postgres://db.example/others',
    'postgres://db.example:5433/orders',
    'postgres://other.example/orders',
    'postgres:///orders?host=/run/postgresql',
  ]
  const directories = stores.map((store) => directoryOf(store))
  expect(new Set(directories).size).toBe(stores.length)
  for (const directory of directories) expect(directory).toMatch(/^\/here\/\.reprise\/postgres-[0-9a-f]{12}$/)
})

test('however its address is written, whoever logs in', () => {
  const directory = directoryOf('postgres://db.example/orders')
  for (const store of [
    'postgresql://app:secret@DB.example:5432/orders?schema=reprise&connections=9',
    'postgres:///orders?user=app&host=db.example&port=5432&sslmode=require',
    'postgres://db.example/%6Frders?password=secret',
  ])
    expect([store, directoryOf(store)]).toEqual([store, directory])
  const environment = { PGHOST: 'db.example', PGPORT: '5432', PGDATABASE: 'orders' }
  expect(directoryOf('postgres://', environment)).toBe(directory)
  expect(directoryOf('postgres://orders@db.example')).toBe(directory)
})
