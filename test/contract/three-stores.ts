/**
 * Each kind of store with a place of its own for a test, opened as often as the test has processes. Imports the adapters and
 * the test server.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { MemoryLedger } from '../../packages/reprise/src/ledger/memory-ledger.js'
import { openLedger } from '../../packages/reprise/src/open/open-durable.js'
import { testDatabase } from '../postgres/shared-server.js'

export interface SharedStore {
  /** Another connection to the same store. */
  open(): Promise<Ledger>
  remove(): Promise<void>
}

export const THREE_STORES: readonly { readonly name: string; readonly make: () => Promise<SharedStore> }[] = [
  {
    name: 'memory',
    make: async () => {
      const ledger = new MemoryLedger()
      return { open: async () => ledger, remove: async () => undefined }
    },
  },
  {
    name: 'SQLite',
    make: async () => {
      const directory = mkdtempSync(path.join(tmpdir(), 'reprise-three-stores-'))
      const open = (): Promise<Ledger> => openLedger(`sqlite:${path.join(directory, 'store.db')}`)
      return { open, remove: async () => rmSync(directory, { recursive: true, force: true }) }
    },
  },
  {
    name: 'PostgreSQL',
    make: async () => {
      const database = await testDatabase()
      return { open: () => openLedger(database.url), remove: () => database.drop() }
    },
  },
]
