import { hostname } from 'node:os'
import type { RunRecord } from 'reprise/durable'
import { expect, test } from 'vitest'
import { secretAddress } from '../state/own-store.js'
import { placeOf, placesElsewhere, withPlace } from './places.js'
import { WORKFLOW_KIND } from './run-record.js'

const here = placeOf({ stateDirectory: '.reprise' })
const there = { host: 'worker-2', stateDirectory: '/srv/.reprise' }

test('a place is a machine and an absolute directory', () => {
  expect(here.host).toBe(hostname())
  expect(here.stateDirectory).toMatch(/^\/.*\.reprise$/)
})

test('a place that is known is not noted again, and of many the last are', () => {
  const places = withPlace(undefined, here)
  expect(places).toEqual([here])
  expect(withPlace(places, { ...here })).toBe(places)
  const many = Array.from({ length: 20 }, (_, n) => ({ ...there, host: `worker-${n}` }))
  const kept = many.reduce<ReturnType<typeof withPlace>>((all, one) => withPlace(all, one), places)
  expect(kept).toHaveLength(8)
  expect(kept.at(-1)?.host).toBe('worker-19')
})

test('elsewhere is every other machine and every other directory; an old record knows of none', () => {
  const run = (detail: object): RunRecord => {
    return {
      kind: WORKFLOW_KIND,
      detail: { cwd: '/', documentDir: '/', params: {}, ...detail },
    } as unknown as RunRecord
  }
  expect(placesElsewhere(run({ places: [here, there] }), here)).toEqual([there])
  expect(placesElsewhere(run({ places: [here] }), { ...here, stateDirectory: '/other' })).toEqual([here])
  expect(placesElsewhere(run({}), here)).toEqual([])
})

test('an address is secret if it has a password', () => {
  const secret = ['postgres://app:secret@db/x', 'postgres://db/x?password=secret']
  expect(secret.map(secretAddress)).toEqual(secret)
  expect(['postgres://app@db/x', 'sqlite:./a.db', 'memory:', 'postgres://%'].map(secretAddress)).toEqual([
    '',
    '',
    '',
    '',
  ])
})
