import type { StoreStatus } from '@reprise/workflow/internal'
import { expect, test } from 'vitest'
import { storeStatusPage } from './store-status.js'
import { styleFor } from './style.js'
import { textWidth } from './width.js'

const style = styleFor('never', { write: () => true }, {})
const display = { style, screen: 80, width: 80, bars: false, blocks: false, quiet: false, verbose: false }

const STATUS: StoreStatus & { hints: [] } = {
  address: 'sqlite:./orders.db',
  kind: 'sqlite',
  version: '3.53.0',
  schema: { version: 1, newest: 1 },
  bytes: 4096,
  tables: [],
  tasks: { waiting: 2 },
  oldestDueAtMs: 8000,
  deadLetters: 0,
  owners: [
    {
      host: 'vm',
      pid: 20164,
      startedAtMs: 0,
      state: 'alive',
      leaseLeftMs: 2000,
      role: 'import-worker',
      site: 'eu-central-1',
      version: '2026.11.18-3fa9c1',
      slots: 50,
      running: 3,
    },
  ],
  connections: null,
  isReplica: false,
  durability: {},
  stateDirectory: '.reprise',
  hints: [],
}

test('processes with long names fit a window of 80 columns, with their attempts and leases', () => {
  const lines = storeStatusPage(STATUS, 10_000, display)
  expect(lines.filter((line) => textWidth(line) > 80)).toEqual([])
  expect(lines).toContain('  first waiting task: due 2s ago')
  const titles = lines.find((line) => line.includes('lease left'))
  expect(titles?.trim().split(/  +/)).toEqual([
    'process',
    'state',
    'role',
    'version',
    'attempts',
    'lease left',
    'since',
  ])
  expect(lines.find((line) => line.includes('20164'))).toMatch(/alive +import-.*… +2026\..*… +3 of 50 +2s +10s ago$/)
})

test('processes are shown whole in a pipe', () => {
  const lines = storeStatusPage(STATUS, 10_000, { ...display, screen: 1000 })
  expect(lines.find((line) => line.includes('20164'))).toContain('import-worker at eu-central-1   2026.11.18-3fa9c1 ')
})
