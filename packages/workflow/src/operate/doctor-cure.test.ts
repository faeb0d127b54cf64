import type { LedgerFault } from 'reprise/internal'
import { expect, test } from 'vitest'
import { type Cure, cureOf, placeText } from './doctor-cure.js'

const task = { type: 'task', scopeKind: 'run', scope: 'r1', id: 'fetch' } as const

test('a damaged history of a program’s task is cured by a backup: the task itself is sound', () => {
  const place = { ...task, scopeKind: 'task', runState: null } as const
  expect(cureOf({ rule: 'history', message: 'attempt 1: failure is 7', place })).toMatchObject({ type: 'advice' })
})

test.each<[LedgerFault['place'], string, Cure]>([
  [{ ...task, runState: 'open' }, 'step r1/fetch', { type: 'cancel_run', run: 'r1' }],
  [{ ...task, runState: 'ended' }, 'step r1/fetch', { type: 'remove_run', run: 'r1' }],
  [{ ...task, runState: 'missing' }, 'step r1/fetch', { type: 'salvage_store' }],
  [
    { ...task, scopeKind: 'task', scope: 'ship', runState: null },
    'task ship/fetch',
    { type: 'cancel_task', name: 'ship', id: 'fetch' },
  ],
  [{ type: 'run', run: 'r1', isEnded: false }, 'run r1', { type: 'cancel_run', run: 'r1' }],
  [{ type: 'run', run: 'r1', isEnded: true }, 'run r1', { type: 'remove_run', run: 'r1' }],
  [{ type: 'gate', kind: 'breaker', key: 'breaker:api' }, 'breaker api', { type: 'reset_breaker', name: 'api' }],
  [{ type: 'gate', kind: 'budget', key: 'budget:api' }, 'budget api', { type: 'grant_budget', name: 'api', amount: 7 }],
  [
    { type: 'gate', kind: 'record', key: 'record:run-group/eu' },
    'group/eu',
    { type: 'advice', text: 'restore the store from a backup, or give the group another name' },
  ],
  [{ type: 'ledger' }, 'the store', { type: 'salvage_store' }],
])('a fault at %j is at %s, and is cured by %j', (place, text, cure) => {
  expect(placeText(place)).toBe(text)
  expect(cureOf({ rule: 'I1', message: 'wrong', place, excess: 7 })).toEqual(cure)
})
