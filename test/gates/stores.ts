/** The stores that several processes can share, each with a place of its own for a test. Imports Node and the test server. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { testDatabase } from '../postgres/shared-server.js'
import type { GateWorkersOptions } from './gate-workers.js'

export interface Store {
  readonly name: string
  readonly workers: GateWorkersOptions
  make(): Promise<Place>
}

export interface Place {
  readonly address: string
  remove(): Promise<void>
}

const sqlite = async (): Promise<Place> => {
  const directory = mkdtempSync(path.join(tmpdir(), 'reprise-gates-'))
  const remove = async (): Promise<void> => rmSync(directory, { recursive: true, force: true })
  return { address: `sqlite:${path.join(directory, 'gates.db')}`, remove }
}

const postgres = (connections: number) => async (): Promise<Place> => {
  const database = await testDatabase()
  const address = new URL(database.url)
  address.searchParams.set('connections', String(connections))
  return { address: address.href, remove: () => database.drop() }
}

export const STORES: readonly Store[] = [
  { name: '8 processes on one SQLite file', workers: { processes: 8, each: 1 }, make: sqlite },
  { name: '8 processes with 64 connections to PostgreSQL', workers: { processes: 8, each: 2 }, make: postgres(4) },
]
