import { expect, test } from 'vitest'
import { InputError, type Problem } from '../document/problem.js'
import { parseSource } from '../document/source.js'
import { type PolicyFile, readPolicies } from './found-policies.js'
import { BLIND_READERS } from './readers.js'

const read = (text: string): PolicyFile => readPolicies(parseSource('f.yaml', text), BLIND_READERS)

function problemsOf(text: string): readonly Problem[] {
  try {
    read(text)
  } catch (error) {
    if (error instanceof InputError) return error.problems
    throw error
  }
  return []
}

/** Where the problems point, as the text that stands there. */
function pointedAt(text: string): string[] {
  return problemsOf(text).map(({ line = 0, column = 0 }) => text.split('\n')[line - 1]?.slice(column - 1) ?? '')
}

test.each([
  ['its fields', 'attempts: 7'],
  ['under retry', 'retry: {attempts: 7}'],
  ['under retry_config', 'retry_config: {attempts: 7}'],
  ['as a number', 'retry: 7'],
  ['as JSON in camelCase', '{"attempts": 7, "maxDelay": "1m"}'],
])('a policy can be given as %s', (_, text) => {
  const { policies, isWorkflow } = read(text)
  expect(isWorkflow).toBe(false)
  expect(policies).toMatchObject([{ step: null, policy: { attempts: 7 } }])
})

test('what stands beside retry is not read, and said to be so', () => {
  expect(read('retry: 3\nname: x\nshell: y').unread).toEqual(['name', 'shell'])
  expect(read('attempts: 3').unread).toEqual([])
})

// ── workflows ────────────────────────────────────────────────────────────────────────────────────

test('a step takes its fields from itself, then the defaults, then what is built in', () => {
  const { policies } = read(`
retry_defaults: {attempts: 4, max_delay: 5s, breaker: {failure_threshold: 9, recovery_timeout: 1s}}
tasks:
  - {id: a, name: b, shell: x, retry: {maxDelay: 7s, breaker: {failure_threshold: 2}}}
  - {name: c d, shell: x}
  - {shell: x, retry: 2}
  - {id: d, shell: x, retry: false}
`)
  expect(policies.map(({ step, policy }) => [step, policy.attempts, policy.maxDelayMs, policy.initialDelayMs])).toEqual(
    [
      ['a', 4, 7000, 1000],
      ['c-d', 4, 5000, 1000],
      ['step-3', 2, 5000, 1000],
      ['d', 1, 5000, 1000],
    ],
  )
  expect(policies[0]?.policy.breaker).toMatchObject({ failureThreshold: 2, recoveryTimeoutMs: 30_000 })
})

test('a step without policy and defaults runs once', () => {
  expect(read('steps: [{id: a, shell: x}]').policies).toMatchObject([{ step: 'a', policy: { attempts: 1 } }])
})

test('timeout of a step with several attempts is noted, since it limits each of them', () => {
  const notesOf = (step: string): readonly string[] => read(`tasks: [${step}]`).policies.flatMap(({ notes }) => notes)
  expect(notesOf('{id: a, shell: x, timeout: 30s, retry: 4}')).toEqual([
    '`timeout: 30s` is the limit of each of the 4 attempts. Write `attempt_timeout: 30s`, or `timeout` under `retry` for all of them.',
  ])
  expect(notesOf('{id: a, shell: x, timeout: 30s}')).toEqual([])
  expect(notesOf('{id: a, shell: x, attempt_timeout: 30s, retry: 4}')).toEqual([])
})

test('an attempt_timeout beside a timeout of a step is one too many', () => {
  expect(problemsOf('steps: [{id: a, shell: x, timeout: 1s, attempt_timeout: 1s}]')).toHaveLength(1)
})

test('retry_on takes exit:N, as the command line does', () => {
  const { policies } = read('steps: [{id: a, shell: x, retry: {retry_on: [network, "exit:75", exit:12]}}]')
  expect(policies[0]?.policy.retryOn).toEqual(['network', { exitCode: [75] }, { exitCode: [12] }])
  expect(pointedAt('steps: [{id: a, shell: x, retry: {retry_on: [exit:300]}}]')).toEqual(['exit:300]}}]'])
})

test('defaults alone are a policy', () => {
  expect(read('retry_defaults: {attempts: 9}').policies).toMatchObject([{ step: null, policy: { attempts: 9 } }])
})

test.each([
  ['retry_defaults: {attempts: 9, max_delay: 2s}\nretry: {attempts: 2}', 2, 2000],
  ['retry_config: {maxDelay: 3s}\nretry_defaults: {attempts: 9, max_delay: 2s}', 9, 3000],
  ['retry_defaults: {attempts: 9, max_delay: 2s}\nretry: 4', 4, 2000],
])('without steps, retry goes over the defaults field by field: %j', (text, attempts, maxDelayMs) => {
  const file = read(text)
  expect(file).toMatchObject({ isWorkflow: false, unread: [], policies: [{ policy: { attempts, maxDelayMs } }] })
})

test('without steps, both parts are checked at their own places', () => {
  const problems = problemsOf('retry_defaults: {attempts: 0}\nretry: {attempts: -1}')
  expect(problems.map(({ path }) => path)).toEqual(['retry_defaults.attempts', 'retry.attempts'])
})

test('what stands beside defaults is said to be unread', () => {
  expect(read('retry_defaults: 3\nattempts: 2').unread).toEqual(['attempts'])
})

test.each(['steps: []', 'tasks: 1', 'mode: workflow', 'name: x\nretry_defaults: 3', 'name: x\nsetps: []', 'map: {}'])(
  'a file with %j is meant to be a workflow',
  (text) => {
    expect(problemsOf(text).map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/needs|unknown field|is not a list|map\/reduce/),
    )
    expect(problemsOf(text)).not.toContainEqual(expect.objectContaining({ path: 'name' }))
  },
)

test('what to do on failure is checked under retry, and is no field of a policy', () => {
  expect(read('retry: {attempts: 2, on_failure: continue}').policies).toMatchObject([{ policy: { attempts: 2 } }])
  expect(problemsOf('retry: {on_failure: contine}')).toMatchObject([{ path: 'retry.on_failure' }])
  expect(problemsOf('on_failure: continue')).toMatchObject([{ path: 'on_failure' }])
})

test('a problem of the defaults is told once, whatever the number of steps', () => {
  const problems = problemsOf(
    'retry_defaults: {attempts: 0}\nsteps: [{shell: a}, {shell: b, retry: 2}, {shell: c, retry: -1}]',
  )
  expect(problems.map(({ path }) => path)).toEqual(['retry_defaults.attempts', 'steps[2].retry'])
})

test.each([
  ['two names of the policy', 'retry: 1\nretry_config: 2', 'retry_config: 2'],
  ['two names of the steps', 'steps: [{shell: a}]\ntasks: [{shell: b}]', 'tasks: [{shell: b}]'],
  ['steps that are no list', 'steps: {a: 1}', 'steps: {a: 1}'],
  ['no steps', 'steps: []', 'steps: []'],
  ['a hedge in a workflow', 'steps:\n  - shell: x\n    retry: {hedge: {delay: 1s}}', 'hedge: {delay: 1s}}'],
])('%s is a problem', (_, text, place) => {
  expect(pointedAt(text)).toEqual([place])
})

// ── places ───────────────────────────────────────────────────────────────────────────────────────

test('a wrong value is pointed at, and of a wrong key, list or map the key', () => {
  const text = `attemps: 1
max_delay: abc
backoff:
  exponential: {base: -1}
retry_on: [network, {pattern: '('}, {exit_code: [0]}]
breaker: 5
hedge: {}
jitter:
`
  expect(pointedAt(text)).toEqual([
    'attemps: 1',
    'abc',
    '-1}',
    "'('}, {exit_code: [0]}]",
    '0]}]',
    '5',
    'hedge: {}',
    'jitter:',
  ])
})

test('keys with dots and brackets are found', () => {
  expect(pointedAt('a.b: 1\nbreaker: {"x[0].y": 1, "k.": {z: 1}}')).toEqual([
    'a.b: 1',
    '"x[0].y": 1, "k.": {z: 1}}',
    '"k.": {z: 1}}',
  ])
})

test('a value given by an alias is pointed at where the alias stands', () => {
  expect(pointedAt('steps:\n  - {shell: &x abc, retry: {max_delay: *x}}')).toEqual(['*x}}'])
})

test.each([
  ['timeout: 7', '7'],
  ['initialDelay: 500', '500'],
  ['hedge: {delay: 3}', '3}'],
  ['backoff: {custom: {delays: [1s, 2]}}', '2]}}'],
  ['backoff: {type: linear, increment: 4}', '4}'],
])('in a file a duration has a unit: %s is refused', (text, place) => {
  expect(pointedAt(text)).toEqual([place])
  expect(problemsOf(text)[0]?.message).toContain('is not a duration')
})

test('an empty file is a problem with a way out', () => {
  expect(problemsOf('# nothing\n')).toMatchObject([{ message: 'is empty', suggestion: expect.any(String) }])
})

test.each(['[]', 'hello', 'true', '- 1'])('%s is no policy', (text) => {
  expect(problemsOf(text)).toHaveLength(1)
})

// ── cures ────────────────────────────────────────────────────────────────────────────────────────

const POLICY_HELP = 'give a number of attempts, `false` for no retry, or fields: `{attempts: 5}`'
const EMPTY_HELP = 'give it a value, or leave it out to have the default'

test.each([
  ['retry_on: 5xx', 'write it as a list: `[5xx]`'],
  ['retry_on: [{exit_code: x}]', 'write it as a list: `[x]`'],
  ['retry_on: [503]', 'did you mean `5xx`?'],
  ['retry_on: [429]', 'did you mean `rate_limit`?'],
  [`retry_on: ${'x'.repeat(50)}`, 'write it as a list: `[…]`'],
  ['backoff: {exponential: {base: 1s}}', 'write the delay beside `backoff`: `initial_delay: 1s`; `base` is the factor'],
  [
    'backoff: {type: exponential, base: 1s}',
    'write the delay beside `backoff`: `initial_delay: 1s`; `base` is the factor',
  ],
  ['backoff: {Exponential: {base: 2}}', 'did you mean `exponential`?'],
  ['backoff: {custom: {delays: 5s}}', 'write it as a list: `[5s]`'],
  ['retry: true', POLICY_HELP],
  ['retry:', POLICY_HELP],
  ['retry_defaults:', POLICY_HELP],
  ['steps: [{shell: x, retry: true}]', POLICY_HELP],
  ['breaker:', 'give fields, such as `{failure_threshold: 5}`, or `{}` for the defaults'],
  ['breaker: true', 'give fields, such as `{failure_threshold: 5}`, or `{}` for the defaults'],
  ['hedge: true', 'give `{delay: 500ms}` or `{percentile: 95}`'],
  ['budget: 3', 'give the name of a budget, or `{name: api, cost: 2}`'],
  ['backoff:', 'give a word such as `exponential`, or `{exponential: {base: 2}}`'],
  ['timeout:', EMPTY_HELP],
  ['retry_on:', EMPTY_HELP],
  ['attempts: "5"', 'write it without quotes: `5`'],
  ['retry: "5"', 'write it without quotes: `5`'],
])('%j is told what to write', (text, suggestion) => {
  expect(problemsOf(text)).toMatchObject([{ suggestion }])
})

test.each([
  ['retries: 3', 'did you mean `attempts`? It counts the first execution as well'],
  ['maxRetries: 3', 'did you mean `attempts`? It counts the first execution as well'],
  ['max_attempts: 3', 'did you mean `attempts`?'],
  ['circuit_breaker: {failure_threshold: 3}', 'did you mean `breaker`?'],
  ['delay: 1s', 'did you mean `initial_delay`?'],
  ['{"delay": "1s"}', 'did you mean `initialDelay`?'],
  ['delay: 1s\nmaxDelay: 1s', 'did you mean `initialDelay`?'],
  ['base: 3', 'did you mean `backoff: {exponential: {base: 3}}`?'],
  ['delays: [1s]', 'did you mean `backoff: {custom: {delays: [1s, 5s]}}`?'],
  ['max-delay: 3s', 'did you mean `max_delay`?'],
  ['retry: {max-delay: 3s}', 'did you mean `max_delay`?'],
  ['maxDelai: 3s', 'did you mean `maxDelay`?'],
  ['{"max-delay": "3s"}', 'did you mean `maxDelay`?'],
  ['breaker: {threshold: 3}', 'did you mean `failure_threshold`?'],
  ['hedge: {after: 3s}', 'did you mean `delay`?'],
  ['backoff: {exponential: {factor: 3}}', 'did you mean `base`?'],
  ['backoff: {fixed: {delay: 5s}}', 'write the delay beside `backoff`: `initial_delay: 5s`'],
  ['backoff: {linear: {base: 2s, increment: 1s}}', 'write the delay beside `backoff`: `initial_delay: 2s`'],
  ['backoff: {type: linear, base: 2s}', 'write the delay beside `backoff`: `initial_delay: 2s`'],
  ['backoff: {exponential: {multiplier: 3}}', 'did you mean `base`?'],
  ['backoff: {exponential: {max: 30s}}', 'write the delay beside `backoff`: `max_delay: 30s`'],
  ['rety: 5', 'did you mean `retry`?'],
  ['setps: []', 'did you mean `steps`?'],
])('the unknown field of %j has a name here', (text, suggestion) => {
  expect(problemsOf(text)).toMatchObject([{ message: 'unknown field', suggestion }])
})

test('two problems of one value are told its cure once', () => {
  const suggestions = problemsOf('backoff: {base: 3}').map((problem) => problem.suggestion)
  expect(suggestions.filter((text) => text !== undefined)).toEqual([
    'did you mean `backoff: {exponential: {base: 3}}`?',
  ])
})

// ── maps ─────────────────────────────────────────────────────────────────────────────────────────

const inMap = (fields: string): PolicyFile =>
  read(`
retry_defaults: {attempts: 2}
steps:
  - {id: list, shell: x}
  - id: resize
    map:
      ${fields}
      agent_template: [{id: convert, shell: x, retry: 5, timeout: 3s}, {id: upload, shell: x}]
      on_item_error: [{id: tell, shell: x, retry: false}]
`)

test('a map has the policy of its items and those of the steps that are done for each', () => {
  const { policies, steps } = inMap('input: items.json')
  expect(steps).toBe(2)
  expect(policies.map(({ step, role, policy }) => [step, role, policy.attempts])).toEqual([
    ['list', 'step', 2],
    ['resize', 'item', 1],
    ['resize/convert', 'template', 5],
    ['resize/upload', 'template', 2],
    ['resize/tell', 'template', 1],
  ])
  expect(policies[2]?.notes).toEqual([expect.stringContaining('is the limit of each of the 5 attempts')])
})

test.each<[string, readonly (readonly [perItem: number, total: number | null])[]]>([
  [
    'input: items.json',
    [
      [1, null],
      [5, null],
      [2, null],
      [1, null],
    ],
  ],
  [
    'input: {range: [1, 100]}',
    [
      [1, 100],
      [5, 500],
      [2, 200],
      [1, 100],
    ],
  ],
  [
    'input: {range: [1, 100, 10]}\n      offset: 4\n      max_items: 3',
    [
      [1, 3],
      [5, 15],
      [2, 6],
      [1, 3],
    ],
  ],
  [
    'input: {product: [[1, 2], [a, b, c]]}\n      filter: item[0] > 1',
    [
      [1, 6],
      [5, 30],
      [2, 12],
      [1, 6],
    ],
  ],
  [
    'input: [{a: 1}]\n      json_path: $[*].a',
    [
      [1, null],
      [5, null],
      [2, null],
      [1, null],
    ],
  ],
  [
    'input: [1, 2]\n      error_policy: {item_retry: 3}',
    [
      [3, 6],
      [15, 30],
      [6, 12],
      [1, 2],
    ],
  ],
  // Two items, of which both or one take the three retries.
  [
    'input: [1, 2]\n      error_policy: {item_retry: 3, max_retries: 3}',
    [
      [3, 5],
      [15, 25],
      [6, 10],
      [1, 2],
    ],
  ],
  [
    'input: [1, 2]\n      error_policy: {item_retry: 5, max_retries: 9, max_retries_per_item: 1}',
    [
      [2, 4],
      [10, 20],
      [4, 8],
      [1, 2],
    ],
  ],
])('with `%s` the starts for one item and for all are counted', (fields, expected) => {
  const starts = inMap(fields)
    .policies.slice(1)
    .map((policy) => policy.starts)
  expect(starts.map((one) => [one?.perItem, one?.total])).toEqual(expected)
})

test('gates of `retry_defaults` that a template does not pass are noted', () => {
  const { policies } = read(
    'budgets: {api: {type: adaptive}}\nretry_defaults: {budget: api}\nsteps: [{map: {input: [], agent_template: [{shell: x}]}}]',
  )
  expect(policies[0]?.notes).toEqual([
    '`budget` of `retry_defaults` is for steps. A map names its own in `item_retry`.',
  ])
})
