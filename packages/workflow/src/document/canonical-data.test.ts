/** Data in the one spelling that its shape has. */
import { expect, it } from 'vitest'
import { canonicalData } from './canonical-data.js'
import { WORKFLOW } from './fields-document.js'

it('what is in that spelling already is given back as it is', () => {
  const document = {
    name: 'night',
    steps: [
      { id: 'a', run: ['true'], env: { A: '1' } },
      { id: 'b', shell: 'echo' },
    ],
  }
  expect(canonicalData(document, WORKFLOW)).toBe(document)
})

it('only what is spelt otherwise is made anew, and the given data stays as it was', () => {
  const first = { id: 'a', run: ['true'] }
  const second = { id: 'b', run: ['echo', 7], retry_config: { maxDelay: '5s' } }
  const document = { tasks: [first, second] }
  const before = structuredClone(document)
  const made = canonicalData(document, WORKFLOW) as { steps: unknown[] }
  expect(made).toEqual({ steps: [first, { id: 'b', run: ['echo', '7'], retry: { max_delay: '5s' } }] })
  expect(made.steps[0]).toBe(first)
  expect(document).toEqual(before)
})

it('a key that is called like the prototype stays a key', () => {
  const document = JSON.parse('{"tasks": [{"id": "a", "run": [1], "env": {"__proto__": 2}}]}') as unknown
  const { steps } = canonicalData(document, WORKFLOW) as { steps: [{ env: object }] }
  expect(Object.keys(steps[0].env)).toEqual(['__proto__'])
  expect(Object.getPrototypeOf(steps[0].env)).toBe(Object.prototype)
})
