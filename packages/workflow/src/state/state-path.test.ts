import { expect, test } from 'vitest'
import { statePathFor } from './state-path.js'

const NOTHING = {}
const directoryOf = (store: string, environment: Record<string, string> = NOTHING): string =>
  statePathFor(store, '/here', environment)

test('the state is beside the ledger, in it, or here', () => {
  expect(directoryOf('sqlite:/data/ledger.db')).toBe('/data/.reprise')
  expect(directoryOf('sqlite:.reprise/ledger.db')).toBe('/here/.reprise')
  expect(directoryOf('sqlite:ledger.db')).toBe('/here/.reprise')
  expect(directoryOf('memory:')).toBe('/here/.reprise')
  expect(directoryOf('postgres://[')).toBe('/here/.reprise')
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
