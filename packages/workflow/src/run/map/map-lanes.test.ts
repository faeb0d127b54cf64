/** The lanes of a map. Imports the lanes alone. */
import { expect, test } from 'vitest'
import type { TaskGroup } from 'reprise/durable'
import { MapLanes } from './map-lanes.js'

test('a failure that stops the part of a map that was asked for pauses the other items too', () => {
  const groups = new Map<string, TaskGroup>()
  const child = {
    id: 'run-1/map',
    items: (lane: string, _policy: unknown, _run: unknown, { group }: { group: TaskGroup }) => groups.set(lane, group),
  }
  const errors = { onItemFailure: 'stop', maxFailures: null, haltOn: [], maxRetries: null, maxRetriesPerItem: null }
  const map = { id: 'map', maxParallel: 1, rate: null, policy: {}, onInterrupt: 'rerun', onItemError: [], errors }
  const lanes = new MapLanes({ child, map, plan: {}, runId: 'run-1', maxFailures: null } as never)
  lanes.items('sample')
  const before = { id: '0000000.a', generation: 1, input: {}, progress: {} }
  const change = { before, after: before, from: 'fresh', to: 'failed' } as never
  const changes = groups.get('sample')?.follow({ gate: () => undefined, task: () => undefined } as never, change, 0)
  const paused = changes?.gates?.filter(({ state }) => (state as { paused?: boolean }).paused)
  expect(paused?.map(({ key }) => key).toSorted()).toEqual(['queue:run-1/map/items', 'queue:run-1/map/sample'])
})
