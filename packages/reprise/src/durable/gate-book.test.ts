import { describe, expect, it } from 'vitest'
import { normalizePolicy } from '../core/normalize.js'
import type { View } from '../ledger/ledger.js'
import type { GateRecord } from '../ledger/records.js'
import { environmentOf } from '../runtime/executor-options.js'
import type { Definition } from './definition.js'
import { GateBook } from './gate-book.js'
import { recordOf } from './policy-record.js'
import { RunBudgets } from './run-budgets.js'

const { policy } = normalizePolicy({ breaker: { failureThreshold: 2, recoveryTimeout: '1m' } })

function definitionOf(name: string): Definition {
  const common = { scopeKind: 'task', scope: name, name, queue: name, policy } as const
  return { ...common, record: recordOf(policy, 'rerun'), run: () => null, onInterrupt: 'rerun', verify: undefined }
}

/** A ledger's gates, as a transaction sees them. */
function viewOf(rows: ReadonlyMap<string, GateRecord>): View {
  return { now: 0, task: () => undefined, run: () => undefined, gate: (key) => rows.get(key) }
}

describe('the book of gates', () => {
  it('keeps at most 1000 breakers in memory, and finds one that was dropped as the ledger has it', () => {
    const book = new GateBook(environmentOf({}), new RunBudgets(undefined), [])
    const rows = new Map<string, GateRecord>()
    const fail = (definition: Definition): void => {
      book.refresh(definition, viewOf(rows))
      book.breakerOf(definition)?.failure(book.breakerOf(definition)?.snapshot().epoch ?? 0, 0)
      for (const row of book.records(definition)) rows.set(row.key, row)
    }
    for (let index = 0; index < 2500; index++) fail(definitionOf(`step-${index}`))
    const kept = (['breakers', 'memories', 'settings', 'stored'] as const).map((field) => book[field].size)
    expect(Math.max(...kept)).toBeLessThanOrEqual(1000)
    // One failure is in the ledger: the second opens it.
    fail(definitionOf('step-0'))
    expect(rows.get('breaker:step-0')?.state).toMatchObject({ phase: 'open', failures: 2 })
    expect(rows.get('breaker:step-1')?.state).toMatchObject({ phase: 'closed', failures: 1 })
  })
})
