import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseSource } from '../document/source.js'
import { describeDifference } from './difference-text.js'
import { differencesOf } from './differences.js'
import { reorderedAmong } from './reordered-steps.js'
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
  ['{shell: x, until: a}', '{shell: x, until: b}', 'step a: until was a, is b'],
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
  ['timeout: 1h', 'timeout: 90m', 'timeout was 1h, is 1h30m'],
  ['concurrency: a', 'concurrency: {group: a, on_conflict: wait}', 'concurrency.on_conflict was refuse, is wait'],
  ['env_file: a', 'env_file: [a, b]', 'env_file was ["a"], is ["a","b"]'],
])('outside of the steps: %s and %s', (before, after, expected) => {
  const whole = (text: string): string => `${text}\nsteps: [{id: a, shell: x}]`
  expect(changes(whole(before), whole(after))).toEqual([expected])
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
  expect(reorderedAmong(['a', 'b', 'c', 'd'], ['d', 'a', 'b', 'c'])).toEqual(['d'])
  const orders = fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 9 })
  const shuffled = orders.chain((names) =>
    fc.tuple(fc.constant(names), fc.shuffledSubarray(names, { minLength: names.length })),
  )
  fc.assert(
    fc.property(shuffled, ([before, after]) => {
      const moved = new Set(reorderedAmong(before, after))
      const stays = (names: readonly string[]): string[] => names.filter((name) => !moved.has(name))
      expect(stays(after)).toEqual(stays(before))
      if (before.join() === after.join()) expect(moved.size).toBe(0)
    }),
  )
})

// ── maps ─────────────────────────────────────────────────────────────────────────────────────────

const map = (fields: string, template = '[{id: a, shell: x}]'): string =>
  `steps: [{id: m, map: {input: items.json, ${fields} agent_template: ${template}}}]`

test.each<[string, string, string]>([
  ['', 'max_parallel: 8, error_policy: {item_retry: false, halt_on: []},', ''],
  ['', 'max_parallel: 4,', 'step m: max_parallel was 8, is 4'],
  ['filter: item.a,', '', 'step m: filter is gone; it was item.a'],
  ['rate: 60/m,', 'rate: 20/s,', 'step m: rate was "60/1m", is "20/1s"'],
  ['sort_by: item.a desc,', 'sort_by: item.a,', 'step m: sort_by was ["item.a desc"], is ["item.a"]'],
  ['error_policy: {tolerate: 7%},', 'error_policy: {tolerate: 3},', 'step m: error_policy.tolerate was "7%", is 3'],
  [
    'error_policy: {item_retry: 3},',
    'error_policy: {item_retry: {attempts: 5}},',
    'step m: error_policy.item_retry.attempts was 3, is 5',
  ],
  ['agent_timeout: 1m,', 'agent_timeout: 2m,', 'step m: error_policy.item_retry.attempt_timeout was 1m, is 2m'],
])('a map with `%s` and one with `%s` differ by field: %s', (before, after, expected) => {
  expect(changes(map(before), map(after)).join(' | ')).toBe(expected)
})

test('the steps of a template are compared one by one, and their order as a whole', () => {
  const before = map('', '[{id: a, shell: x}, {id: b, shell: y}]')
  expect(changes(before, map('', '[{id: a, shell: z}, {id: b, shell: y, retry: 4}]'))).toEqual([
    'step m: agent_template.a.shell was x, is z',
    'step m: agent_template.b.retry.attempts was 1, is 4',
  ])
  expect(changes(before, map('', '[{id: b, shell: y}, {id: a, shell: x}]'))).toEqual([
    'step m: agent_template was ["a","b"], is ["b","a"]',
  ])
})

test('a step that has become a map is another kind of step', () => {
  expect(changes('steps: [{id: m, shell: x}]', map(''))).toEqual(['step m: kind was step, is map'])
})

test('the spelling of map/reduce is no difference', () => {
  const short = 'mode: mapreduce\nmap: {input: items.json, agent_template: [{id: a, shell: x}]}'
  expect(changes(short, map('').replace('id: m,', 'id: map,'))).toEqual([])
})
