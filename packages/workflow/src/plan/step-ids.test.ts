import fc from 'fast-check'
import { expect, test } from 'vitest'
import { faultOfName, STEP_ID } from '../document/names.js'
import { slugOf, stepIds } from './step-ids.js'

const named = (...names: (string | undefined)[]): string[] => stepIds(names.map((name) => ({ id: undefined, name })))

test('an id is the given one, else the name, else the position', () => {
  const steps = [
    { id: 'load', name: 'Load it' },
    { id: undefined, name: 'fetch' },
    { id: undefined, name: undefined },
  ]
  expect(stepIds(steps)).toEqual(['load', 'fetch', 'step-3'])
})

test.each([
  ['API call', 'API-call'],
  ['Über die API', 'Uber-die-API'],
  ['  a / b  ', 'a-b'],
  ['x.fallback', 'x'],
  ['x.fallback.fallback', 'x'],
  ['../../etc/passwd', 'etc-passwd'],
  ['..', ''],
  ['日本', ''],
  ['$(rm -rf .)', 'rm-rf'],
])('the name %j is made fit: %s', (name, slug) => {
  expect(slugOf(name)).toBe(slug)
})

test('twins are numbered, and give way to ids that were given, wherever they stand', () => {
  expect(named('a', 'a', 'a')).toEqual(['a', 'a-2', 'a-3'])
  expect(named('a', 'A')).toEqual(['a', 'A-2'])
  expect(named(undefined, 'step-1')).toEqual(['step-1', 'step-1-2'])
  expect(
    stepIds([
      { id: undefined, name: 'a' },
      { id: undefined, name: 'a' },
      { id: 'A', name: undefined },
      { id: 'a-2', name: undefined },
    ]),
  ).toEqual(['a-3', 'a-4', 'A', 'a-2'])
})

test('whatever the names, ids are fit and stand once, letter case aside', () => {
  const name = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('a', 'A', 'a-2', 'step-2', 'a.fallback', ' '))
  fc.assert(
    fc.property(fc.array(fc.option(name, { nil: undefined })), (names) => {
      const ids = named(...names)
      for (const id of ids) expect(faultOfName(id, STEP_ID)).toBeUndefined()
      expect(new Set(ids.map((id) => id.toLowerCase())).size).toBe(names.length)
    }),
  )
})

test('the ids of steps do not depend on what comes after them', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', 'b', 'a b', undefined)), (names) => {
      expect(named(...names, 'a').slice(0, -1)).toEqual(named(...names))
    }),
  )
})

test('very many steps of one name take no time', () => {
  expect(named(...Array.from({ length: 50_000 }, () => 'a')).at(-1)).toBe('a-50000')
})
