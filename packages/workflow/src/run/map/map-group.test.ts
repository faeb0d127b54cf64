import fc from 'fast-check'
import type { GateRecord, TaskRecord } from 'reprise/durable'
import type { GroupChange } from 'reprise/internal'
import { expect, test } from 'vitest'
import { type GroupParts, itemGroup } from './map-group.js'
import type { LaneState } from './map-record.js'

const KEY = 'queue:r1/map/items'
const ERRORS: GroupParts['errors'] = { onItemFailure: 'dlq', maxFailures: null, haltOn: [] }

/** A gate row that the group changes, as a ledger would. */
class Gate {
  state: LaneState = { most: 4 }

  tell(
    parts: Partial<GroupParts>,
    change: Partial<GroupChange> & { readonly to: GroupChange['to'] },
    exitCode = 1,
  ): void {
    const group = itemGroup({ countKey: KEY, pausedKeys: [KEY], errors: ERRORS, onError: undefined, ...parts })
    const gate: GateRecord = { key: KEY, kind: 'queue', state: this.state as GateRecord['state'] }
    const task = { id: '0000000.a', generation: 1, input: { key: 'a', value: 1 } }
    const after = { ...task, progress: { lastFailure: { name: 'Error', message: 'no', exitCode } } }
    const view = { now: 5, gate: () => gate, task: () => undefined, run: () => undefined }
    const full = { from: 'fresh', before: task, after, ...change } as unknown as GroupChange
    const { gates = [] } = group.follow(view, full, 5)
    this.state = gates[0]?.state as LaneState
  }
}

test('counts failed and undecided items, and takes back what is redriven', () => {
  const moves = fc.array(fc.constantFrom('fail', 'undecide', 'redrive'), { maxLength: 60 })
  fc.assert(
    fc.property(moves, (list) => {
      const gate = new Gate()
      let failed = 0
      for (const move of list) {
        if (move === 'redrive') {
          if (failed === 0) continue
          gate.tell({}, { from: 'failed', to: 'fresh' })
          failed--
        } else {
          gate.tell({}, { to: move === 'fail' ? 'failed' : 'undecided' })
          failed++
        }
        expect(gate.state.failed).toBe(failed)
      }
      expect(gate.state.halt).toBeUndefined()
    }),
  )
})

test('pauses the lane with the failure that reaches the limit, and not before', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), (maxFailures) => {
      const gate = new Gate()
      for (let failures = 1; failures <= maxFailures; failures++) {
        expect(gate.state.paused).toBeUndefined()
        gate.tell({ errors: { ...ERRORS, maxFailures } }, { to: 'failed' })
      }
      expect(gate.state).toMatchObject({ paused: true, most: 4, halt: { kind: 'max_failures', limit: maxFailures } })
    }),
  )
})

test('an exit code of halt_on, and on_item_failure: stop, pause the lane at once', () => {
  const byCode = new Gate()
  byCode.tell({ errors: { ...ERRORS, haltOn: [255] } }, { to: 'failed' }, 255)
  expect(byCode.state.halt).toEqual({ kind: 'halt_on', item: '0000000.a', exitCode: 255 })
  const byRule = new Gate()
  byRule.tell({ errors: { ...ERRORS, onItemFailure: 'stop' } }, { to: 'failed' })
  expect(byRule.state.halt).toEqual({ kind: 'stop', item: '0000000.a' })
})

test('a lane that no limit stops counts and is not paused', () => {
  const gate = new Gate()
  gate.tell({ pausedKeys: [], errors: { ...ERRORS, maxFailures: 1 } }, { to: 'failed' })
  expect(gate.state).toEqual({ most: 4, failed: 1 })
})

test('on_item_error becomes a task of the generation that failed, once', () => {
  const created: string[] = []
  const onError: GroupParts['onError'] = {
    keyOf: (id) => ({ scopeKind: 'run', scope: 'r1/map/on-error', id }),
    newTask: ({ id }) => {
      created.push(id)
      return { task: { id } as TaskRecord, policy: { hash: '', policy: null }, payloadHash: '' }
    },
  }
  new Gate().tell({ onError }, { to: 'failed' })
  new Gate().tell({ onError }, { to: 'undecided' })
  expect(created).toEqual(['0000000.a.g1'])
})
