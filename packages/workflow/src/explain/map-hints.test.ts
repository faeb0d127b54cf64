import { expect, test } from 'vitest'
import { parseSource } from '../document/source.js'
import { readPolicies } from '../plan/found-policies.js'
import { BLIND_READERS } from '../plan/readers.js'
import { type Explanation, explain } from './explanation.js'

const CALM = 'jitter: full, retry_on: [network, timeout]'

function explained(input: string, errors: string, step = 'shell: x'): Explanation[] {
  const text = `steps: [{id: m, map: {input: ${input}, agent_timeout: 5s, error_policy: {${errors}}, agent_template: [{id: s, ${step}}]}}]`
  return readPolicies(parseSource('f.yaml', text), BLIND_READERS).policies.map(explain)
}

const codes = ({ hints }: Explanation | undefined = { hints: [] } as never): string[] => hints.map(({ code }) => code)

test('attempts of a step within attempts of an item are multiplied', () => {
  const [item, step] = explained('[1]', `item_retry: {attempts: 3, ${CALM}}`, 'shell: x, retry: {attempts: 4}')
  expect(codes(item)).toEqual([])
  expect(step?.hints[0]).toEqual({
    code: 'attempts_multiply',
    message:
      '3 attempts of an item with 4 attempts of this step each: up to 12 starts for one item. One of the two is often enough.',
  })
})

test('a step that runs once is not hinted at where its item is retried', () => {
  expect(codes(explained('[1]', `item_retry: {attempts: 3, ${CALM}}`)[1])).toEqual([])
  expect(codes(explained('[1]', '')[1])).toEqual(['runs_once'])
})

test.each<[string, string, string[]]>([
  ['{range: [1, 100]}', `item_retry: {attempts: 3, ${CALM}}, max_retries: 20`, ['allotment_below_items']],
  ['{range: [1, 20]}', `item_retry: {attempts: 3, ${CALM}}, max_retries: 20`, []],
  ['items.json', `item_retry: {attempts: 3, ${CALM}}, max_retries: 20`, []],
  ['[1]', 'max_retries: 20', ['allotment_unused', 'runs_once']],
  ['[1]', 'item_retry: {attempts: 3, retry_on: [network, timeout]}', ['no_jitter']],
])('items of %s with `%s`: %j', (input, errors, expected) => {
  expect(codes(explained(input, errors)[0])).toEqual(expected)
})

test('the limit of an attempt of an item is named as a map has it', () => {
  const text = `steps: [{map: {input: [1], error_policy: {item_retry: {attempts: 3, ${CALM}}}, agent_template: [{shell: x}]}}]`
  const [item] = readPolicies(parseSource('f.yaml', text), BLIND_READERS).policies.map(explain)
  expect(item?.hints).toEqual([
    { code: 'no_attempt_timeout', message: 'Nothing ends an attempt that hangs: add `agent_timeout`.' },
  ])
})

test('a map with batches whose last step captures something is told where the results of its items go', () => {
  const text = `steps: [{map: {input: [1], batch: 5, agent_timeout: 5s, error_policy: {item_retry: {attempts: 3, ${CALM}}}, agent_template: [{shell: x, capture: y}]}}]`
  const [item] = readPolicies(parseSource('f.yaml', text), BLIND_READERS).policies.map(explain)
  expect(codes(item)).toEqual(['batch_captures'])
  expect(item?.hints[0]?.message).toMatch(/append a line .* to `\$REPRISE_RESULTS`/)
})
