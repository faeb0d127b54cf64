import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseSource } from '../document/source.js'
import { describeDifference } from './difference-text.js'
import { differencesOf } from './differences.js'
import { movedAmong } from './moved.js'
import type { Plan } from './plan.js'
import { planOf } from './plan-of.js'
import { BLIND_READERS } from './readers.js'

const plan = (text: string): Plan => planOf(parseSource('f.yaml', text), BLIND_READERS)
const changes = (before: string, after: string): string[] =>
  differencesOf(plan(before), plan(after)).map(describeDifference)

const steps = (...lines: string[]): string => `steps:\n${lines.map((line) => `  - ${line}\n`).join('')}`

test('what is written in another way is no difference', () => {
  const before = 'steps: [{id: a, shell: x, retry: 3}]'
  const after =
    '# again\ntasks:\n  - retry_config: {attempts: 3, maxDelay: 30s, backoff: {type: exponential}}\n    id: a\n    shell: x\n'
  expect(differencesOf(plan(before), plan(after))).toEqual([])
})

test('steps that were added, removed and moved are named with their places', () => {
  const before = steps('{id: a, shell: x}', '{id: b, shell: x}', '{id: c, shell: x}', '{id: d, shell: x}')
  const after = steps('{id: c, shell: x}', '{id: a, shell: x}', '{id: e, shell: x}', '{id: d, shell: x}')
  expect(differencesOf(plan(before), plan(after))).toEqual([
    { kind: 'step_removed', step: 'b', position: 2 },
    { kind: 'step_added', step: 'e', position: 3 },
    { kind: 'step_moved', step: 'c', from: 3, to: 1 },
  ])
  expect(changes(before, after)).toEqual([
    'step b is gone; it was at position 2',
    'step e is new, at position 3',
    'step c was at position 3, is at 1',
  ])
})

test.each<[string, string, string]>([
  ['{shell: x}', '{shell: y}', 'step a: shell was x, is y'],
  ['{shell: x}', '{run: [x]}', 'step a: shell is gone; it was x | step a: run is new: ["x"]'],
  ['{shell: x, env: {A: 1}}', '{shell: x, env: {A: 2, B: 3}}', 'step a: env.A was 1, is 2 | step a: env.B is new: 3'],
  ['{http: {url: "http://a"}}', '{http: {url: "http://b"}}', 'step a: http.url was "http://a", is "http://b"'],
  ['{shell: x, when: a}', '{shell: x}', 'step a: when is gone; it was a'],
  [
    '{shell: x, capture: o}',
    '{shell: x, capture: o, capture_format: json}',
    'step a: capture.format was text, is json',
  ],
  ['{shell: x, name: n}', '{shell: x, name: m}', 'step a: name was n, is m'],
  ['{shell: x, working_dir: d}', '{shell: x, working_dir: e}', 'step a: working_dir was d, is e'],
  ['{shell: x}', '{shell: x, on_interrupt: {verify: v}}', 'step a: on_interrupt was rerun, is {"verify":"v"}'],
])('a step that was reworded: %s and %s', (before, after, expected) => {
  const id = (step: string): string => `steps: [${step.replace('{', '{id: a, ')}]`
  expect(changes(id(before), id(after)).join(' | ')).toBe(expected)
})

test.each<[string, string, string]>([
  ['3', '5', 'attempts was 3, is 5'],
  ['{max_delay: 1m}', '{max_delay: 90s}', 'max_delay was 1m, is 1m30s'],
  [
    '{backoff: linear}',
    '{backoff: fibonacci}',
    'backoff.increment is gone; it was 1s | backoff.type was linear, is fibonacci',
  ],
  ['{backoff: {exponential: {base: 2}}}', '{backoff: {exponential: {base: 3}}}', 'backoff.base was 2, is 3'],
  ['{retry_on: [network]}', '{retry_on: [network, 5xx]}', 'retry_on was ["network"], is ["network","server_error"]'],
  ['{jitter: true}', '{}', 'jitter was proportional, is false'],
  ['{timeout: 1m}', '{}', 'timeout is gone; it was 1m'],
  ['{on_failure: continue}', '{on_failure: stop}', 'on_failure was continue, is stop'],
  ['{breaker: {failure_threshold: 2}}', '{breaker: {failure_threshold: 3}}', 'breaker.failure_threshold was 2, is 3'],
])('a policy is compared field by field: %s and %s', (before, after, expected) => {
  const text = (retry: string): string => `steps: [{id: a, shell: x, retry: ${retry}}]`
  const said = expected.split(' | ').map((change) => `step a: retry.${change}`)
  expect(changes(text(before), text(after))).toEqual(said)
})

test('defaults that changed are told by the steps that they change', () => {
  const text = (attempts: number): string =>
    `retry_defaults: {attempts: ${attempts}}\nsteps: [{id: a, shell: x}, {id: b, shell: x, retry: 7}]`
  expect(changes(text(2), text(3))).toEqual(['step a: retry.attempts was 2, is 3'])
})

test('what stands beside the steps is told once, whoever uses it', () => {
  const text = (threshold: number, type: string, region: string): string => `
name: n
breakers: {w: {failure_threshold: ${threshold}}}
budgets: {api: {type: ${type}}}
params: {maxItems: ${region}}
env: {REGION_Ms: ${region}}
secrets: [S]
steps: [{id: a, shell: x, retry: {breaker: w, budget: api}}]`
  expect(changes(text(2, 'ratio', 'eu'), text(3, 'adaptive', 'us'))).toEqual([
    'params.maxItems was eu, is us',
    'env.REGION_Ms was eu, is us',
    'breakers.w.failure_threshold was 2, is 3',
    'budgets.api.type was ratio, is adaptive',
  ])
})

test('long values are shown in part', () => {
  const [said = ''] = changes(steps(`{id: a, shell: ${'x'.repeat(500)}}`), steps('{id: a, shell: y}'))
  expect(said.length).toBeLessThan(120)
})

test('the fewest moves make one order of the other', () => {
  expect(movedAmong(['a', 'b', 'c', 'd'], ['d', 'a', 'b', 'c'])).toEqual(['d'])
  const orders = fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 9 })
  const shuffled = orders.chain((names) =>
    fc.tuple(fc.constant(names), fc.shuffledSubarray(names, { minLength: names.length })),
  )
  fc.assert(
    fc.property(shuffled, ([before, after]) => {
      const moved = new Set(movedAmong(before, after))
      const stays = (names: readonly string[]): string[] => names.filter((name) => !moved.has(name))
      expect(stays(after)).toEqual(stays(before))
      if (before.join() === after.join()) expect(moved.size).toBe(0)
    }),
  )
})
