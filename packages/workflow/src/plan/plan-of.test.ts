import { normalizePolicy } from 'reprise'
import { expect, test } from 'vitest'
import { ACTION_FIELDS } from '../document/fields-actions.js'
import { InputError, type Problem } from '../document/problem.js'
import { parseSource } from '../document/source.js'
import { ACTION_KINDS, type Plan, type StepPlan, stepsOf } from './plan.js'
import { planFromDocument, planOf } from './plan-of.js'
import { BLIND_READERS } from './readers.js'

const plan = (text: string, file = 'flows/nightly.yaml'): Plan => planOf(parseSource(file, text), BLIND_READERS)

/** The only step of a document. */
function step(text: string, before = ''): StepPlan {
  const [only] = stepsOf(plan(`${before}\nsteps: [${text}]`))
  if (only === undefined) throw new Error('no step')
  return only
}

function problemsOf(text: string): readonly Problem[] {
  try {
    plan(text)
    return []
  } catch (error) {
    if (error instanceof InputError) return error.problems
    throw error
  }
}

// ── documents ────────────────────────────────────────────────────────────────────────────────────

const NIGHTLY = `
name: nightly-import
env: { REGION: eu }
secrets: [API_TOKEN]            # names of environment variables
retry_defaults: { attempts: 3, backoff: exponential, jitter: true, retry_budget: 2m }
breakers: { warehouse: { failure_threshold: 3, recovery_timeout: 20s } }
budgets: { api: { type: adaptive, max_parked: 7 } }
steps:
  - name: fetch
    shell: curl -fsS https://example.com/items.json
    capture: items               # stdout → items
    capture_format: json
    timeout: 30s
    retry: { attempts: 5, retry_on: [network, timeout, 5xx], on_failure: continue }
  - id: load
    run: ["psql", "-f", "load.sql"]
    when: items.count > 0
    retry: { breaker: warehouse, budget: api }
`

test('a document becomes a plan with everything filled in', () => {
  const { document, fingerprint, ...rest } = plan(NIGHTLY)
  expect(rest).toEqual({
    name: 'nightly-import',
    file: 'flows/nightly.yaml',
    ...{ params: {}, env: { REGION: 'eu' }, envFiles: [], concurrency: null, timeoutMs: null },
    secrets: ['API_TOKEN'],
    breakers: { warehouse: { key: 'warehouse', failureThreshold: 3, recoveryTimeout: '20s' } },
    budgets: { api: { type: 'adaptive', settings: { maxParked: 7 } } },
    outputs: {},
    maxRunLogBytes: 1024 ** 3,
    phases: [
      {
        kind: 'step',
        id: 'fetch',
        name: 'fetch',
        action: { kind: 'shell', command: 'curl -fsS https://example.com/items.json' },
        policy: {
          attempts: 5,
          backoff: 'exponential',
          jitter: true,
          retryBudget: '2m',
          retryOn: ['network', 'timeout', '5xx'],
          attemptTimeout: '30s',
        },
        onFailure: 'continue',
        onInterrupt: 'rerun',
        when: null,
        until: null,
        capture: { name: 'items', format: 'json' },
        env: {},
        workingDir: null,
        maxLogBytes: 64 * 1024 ** 2,
      },
      {
        kind: 'step',
        id: 'load',
        name: 'load',
        action: { kind: 'run', argv: ['psql', '-f', 'load.sql'] },
        policy: {
          attempts: 3,
          backoff: 'exponential',
          jitter: true,
          retryBudget: '2m',
          breaker: { key: 'warehouse', failureThreshold: 3, recoveryTimeout: '20s' },
          budget: 'api',
        },
        onFailure: 'stop',
        onInterrupt: 'rerun',
        when: 'items.count > 0',
        until: null,
        capture: null,
        env: {},
        workingDir: null,
        maxLogBytes: 64 * 1024 ** 2,
      },
    ],
  })
  expect(fingerprint).toMatch(/^[0-9a-f]{32}$/)
  expect(document).toMatchObject({ name: 'nightly-import', steps: [{ name: 'fetch' }, { id: 'load' }] })
})

test('a document without a name has that of its file; from nowhere it is a workflow', () => {
  expect(plan('steps: [{shell: x}]')).toMatchObject({ name: 'nightly', file: 'flows/nightly.yaml' })
  expect(plan('steps: [{shell: x}]', '<stdin>')).toMatchObject({ name: 'workflow', file: null })
})

test('a plan is made again from the document that it kept', () => {
  const first = plan(NIGHTLY)
  expect(planFromDocument(JSON.parse(JSON.stringify(first.document)), first.file, BLIND_READERS)).toEqual(first)
})

test('a kept document that is none is refused by paths, as it has no lines', () => {
  const broken = { steps: [{ shell: 'x', rety: 5 }] }
  expect(() => planFromDocument(broken, null, BLIND_READERS)).toThrow(InputError)
  try {
    planFromDocument(broken, null, BLIND_READERS)
  } catch (error) {
    const suggestion = 'did you mean `retry`?'
    const problem = { file: '<stdin>', path: 'steps[0].rety', message: 'unknown field', suggestion }
    expect((error as InputError).problems).toEqual([problem])
  }
})

test('the defaults and the step of a published sample mean what their text says', () => {
  const sample = plan(`
# Global retry configuration
retry_defaults:
  attempts: 3
  backoff: exponential
  initial_delay: 1s
  max_delay: 30s
  jitter: true
  jitter_factor: 0.3
  retry_budget: 2m

# Per-step retry override
tasks:
  - name: "API call"
    shell: "curl https://api.example.com"
    retry:
      attempts: 5
      backoff:
        exponential:
          base: 2.0
      retry_on: ["network", "timeout", "5xx"]
      on_failure: continue

  - name: "Critical operation"
    claude: "/deploy-production"
    retry:
      attempts: 1  # No retry for critical ops
`)
  const [call, critical] = sample.phases
  expect(call).toMatchObject({ id: 'API-call', name: 'API call', onFailure: 'continue' })
  expect(normalizePolicy(call?.policy).policy).toMatchObject({
    attempts: 5,
    backoff: { type: 'exponential', base: 2 },
    initialDelayMs: 1000,
    jitter: 'proportional',
    retryBudgetMs: 120_000,
    retryOn: ['network', 'timeout', 'server_error'],
  })
  expect(critical).toMatchObject({
    id: 'Critical-operation',
    action: { kind: 'claude', prompt: '/deploy-production', program: null, args: [] },
    policy: { attempts: 1, retryBudget: '2m' },
    onFailure: 'stop',
  })
})

test('retry_config with a time budget, as a step has it', () => {
  const { policy } = step(
    '{shell: x, retry_config: {attempts: 10, retry_budget: "5m", backoff: {exponential: {base: 2.0}}, initial_delay: "1s"}}',
  )
  expect(normalizePolicy(policy).policy).toMatchObject({ attempts: 10, retryBudgetMs: 300_000, initialDelayMs: 1000 })
})

test('other names and spellings give the same plan', () => {
  const [one, other] = [
    plan('steps: [{id: a, shell: x, env: {N: 5}, retry: {max_delay: 5s, retry_on: [{exit_code: 3}]}}]'),
    plan(
      '{"commands": [{"retry_config": {"retryOn": [{"exitCode": 3}], "maxDelay": "5s"}, "env": {"N": "5"}, "shell": "x", "id": "a"}]}',
    ),
  ]
  expect(other).toEqual(one)
})

// ── actions ──────────────────────────────────────────────────────────────────────────────────────

test('every kind of action has its key', () => {
  expect(ACTION_FIELDS.map(({ name }) => name)).toEqual(ACTION_KINDS)
})

test.each<[string, object]>([
  ['{run: [sleep, 5, true, 1.5]}', { kind: 'run', argv: ['sleep', '5', 'true', '1.5'] }],
  [
    '{http: {url: "https://a/b"}}',
    {
      kind: 'http',
      method: 'GET',
      url: 'https://a/b',
      headers: {},
      body: null,
      expect: { status: [] },
      redirectOrigins: [],
    },
  ],
  [
    '{http: {url: "https://a", headers: {X: 5}, body: {a: 1}, expect: {status: 201}}}',
    {
      kind: 'http',
      method: 'POST',
      url: 'https://a',
      headers: { X: '5' },
      body: { a: 1 },
      expect: { status: [201] },
      redirectOrigins: [],
    },
  ],
  [
    '{http: {url: "https://a", method: DELETE, expect: {status: [204, 404]}}}',
    {
      kind: 'http',
      method: 'DELETE',
      url: 'https://a',
      headers: {},
      body: null,
      expect: { status: [204, 404] },
      redirectOrigins: [],
    },
  ],
  ['{script: ./x.mjs}', { kind: 'script', module: './x.mjs', export: 'default', with: null }],
  [
    '{script: {module: ./x.mjs, export: go, with: [1]}}',
    { kind: 'script', module: './x.mjs', export: 'go', with: [1] },
  ],
  ['{claude: {prompt: hi, args: [-m, 2]}}', { kind: 'claude', prompt: 'hi', program: null, args: ['-m', '2'] }],
  ['{write_file: {path: a, content: {b: 1}}}', { kind: 'write_file', path: 'a', content: { b: 1 }, mode: null }],
  ["{write_file: {path: a, content: '', mode: '0640'}}", { kind: 'write_file', path: 'a', content: '', mode: 0o640 }],
])('%s', (text, action) => {
  expect(step(text).action).toEqual(action)
})

test('the program of claude is the document’s', () => {
  expect(step('{claude: hi}', 'claude_program: other').action).toMatchObject({ program: 'other' })
})

// ── policies and what follows ────────────────────────────────────────────────────────────────────

test.each<[string, string, object]>([
  ['', '{shell: x}', { attempts: 1 }],
  ['', '{shell: x, timeout: 5s}', { attempts: 1, attemptTimeout: '5s' }],
  ['', '{shell: x, retry: 4, attempt_timeout: 5s}', { attempts: 4, attemptTimeout: '5s' }],
  [
    '',
    '{shell: x, attempt_timeout: 5s, retry: {attempts: 4, timeout: 1m}}',
    { attempts: 4, attemptTimeout: '5s', timeout: '1m' },
  ],
  ['', '{shell: x, retry: false}', { attempts: 1 }],
  ['', '{shell: x, retry: 4, timeout: 5s}', { attempts: 4, attemptTimeout: '5s' }],
  ['retry_defaults: 4', '{shell: x}', { attempts: 4 }],
  ['retry_defaults: {attempts: 4, jitter: full}', '{shell: x, retry: false}', { attempts: 1, jitter: 'full' }],
  ['retry_defaults: {attempt_timeout: 9s}', '{shell: x, timeout: 5s}', { attemptTimeout: '5s' }],
  [
    '',
    '{shell: x, retry: {breaker: {failure_threshold: 2}}}',
    { breaker: { key: 'nightly/step-1', failureThreshold: 2 } },
  ],
  ['', '{shell: x, retry: {breaker: {key: k}}}', { breaker: { key: 'k' } }],
  ['retry_defaults: {breaker: {}}', '{id: a, shell: x}', { breaker: { key: 'nightly/a' } }],
  [
    'budgets: {b: {type: ratio}}',
    '{shell: x, retry: {budget: {name: b, cost: 2}}}',
    { budget: { name: 'b', cost: 2 } },
  ],
  ['budgets: {" b ": {type: ratio}}', '{shell: x, retry: {budget: b}}', { budget: 'b' }],
])('with %j the policy of %s', (before, text, policy) => {
  expect(step(text, before).policy).toEqual(policy)
})

test('a breaker under one key has one setting', () => {
  const steps = (first: string, second: string): string =>
    `steps: [{shell: x, retry: {breaker: ${first}}}, {shell: x, retry: {breaker: ${second}}}]`
  expect(problemsOf(steps('{key: k, failure_threshold: 2}', '{key: k, failure_threshold: 3}'))).toMatchObject([
    {
      message: 'the breaker "k" has other settings at steps[0].retry.breaker',
      suggestion: 'declare it once under `breakers`, and write `breaker: k`',
    },
  ])
  const declared = 'breakers: {k: {failure_threshold: 2}}\n'
  expect(problemsOf(declared + steps('k', '{key: k, failure_threshold: 3}'))).toMatchObject([
    { message: 'the breaker "k" has other settings at breakers.k' },
  ])
  expect(() => plan(declared + steps('k', '{key: k, failure_threshold: 2}'))).not.toThrow()
  expect(() => plan(steps('{key: k, recovery_timeout: 1m}', '{key: k, recovery_timeout: 60s}'))).not.toThrow()
})

test('what stands under a second name of `steps` is looked at as well', () => {
  const problems = problemsOf('steps: [{shell: x}]\ntasks: [{id: "a b", shell: x, retry: {breaker: w}, bogus: 1}]')
  expect(problems.map(({ path }) => path)).toEqual(['tasks', 'tasks[0].id', 'tasks[0].retry.breaker', 'tasks[0].bogus'])
})

test('a gate is known without the spaces around its name', () => {
  const text = 'budgets: {" b ": {type: ratio}}\nbreakers: {w: {}}\nsteps: [{shell: x, retry: {breaker: " w"}}]'
  expect(plan(text)).toMatchObject({
    budgets: { b: { type: 'ratio' } },
    phases: [{ policy: { breaker: { key: 'w' } } }],
  })
  expect(problemsOf('breakers: {w: {}, " w": {}}\nsteps: [{shell: x}]')).toMatchObject([
    { message: 'this name stands here twice' },
  ])
})

const fallback = (afterwards: string): object => ({ fallback: { kind: 'shell', command: 'y' }, afterwards })

test.each<[string, string, unknown]>([
  ['', '{shell: x, retry: {on_failure: {fallback: {command: y}}}}', fallback('continue')],
  ['', '{shell: x, retry: {on_failure: {fallback: {command: y}, then: fail}}}', fallback('fail')],
  ['', '{shell: x, retry: {onFailure: continue}}', 'continue'],
  ['retry_defaults: {on_failure: continue}', '{shell: x}', 'continue'],
  ['retry_defaults: {on_failure: continue}', '{shell: x, retry: 3}', 'continue'],
  ['retry_defaults: {on_failure: continue}', '{shell: x, retry: {on_failure: stop}}', 'stop'],
])('with %j, %s fails with its action', (before, text, action) => {
  expect(step(text, before).onFailure).toEqual(action)
})

test.each<[string, unknown]>([
  ['fail', 'fail'],
  ['{verify: ./look}', { verify: { kind: 'shell', command: './look' } }],
  ['{verify: [./look, 5]}', { verify: { kind: 'run', argv: ['./look', '5'] } }],
])('on_interrupt: %s', (text, action) => {
  expect(step(`{shell: x, on_interrupt: ${text}}`).onInterrupt).toEqual(action)
})

// ── what no table can say ────────────────────────────────────────────────────────────────────────

test.each<[string, string, string, string | undefined]>([
  [
    '{shell: x, timeout: 5s, retry: {attempt_timeout: 6s}}',
    'timeout',
    '`retry.attempt_timeout` says the same: keep one of them',
    'the limit of all attempts together is `retry.timeout`',
  ],
  [
    '{shell: x, attempt_timeout: 5s, retry: {attemptTimeout: 6s}}',
    'attempt_timeout',
    '`retry.attemptTimeout` says the same: keep one of them',
    'the limit of all attempts together is `retry.timeout`',
  ],
  [
    '{shell: x, retry: {breaker: warehose}}',
    'retry.breaker',
    '"warehose" is not declared',
    'did you mean `warehouse`?',
  ],
  [
    '{shell: x, retry: {breaker: other_one}}',
    'retry.breaker',
    'not declared under `breakers`',
    'declare it: `breakers: {other_one',
  ],
  ['{shell: x, retry: {budget: apy}}', 'retry.budget', '"apy" is not declared', 'did you mean `api`?'],
  ['{shell: x, retry: {budget: {name: nobody}}}', 'retry.budget.name', 'not declared under `budgets`', 'declare it'],
  ['{run: [" "]}', 'run[0]', 'the program is blank', 'such as `[psql, -f, load.sql]`'],
  ['{http: {url: example.com}}', 'http.url', '"example.com" is not an address of the web', 'it begins with `https://`'],
  ['{http: {url: "http://[::1"}}', 'http.url', 'is not an address of the web', undefined],
  ['{http: {url: "http://a", method: GET, body: x}}', 'http.body', 'a GET has no body', 'did you mean `method: POST`?'],
  ['{shell: x, capture: region}', 'capture', '`region` is a parameter already', undefined],
])('%s is refused', (text, path, message, suggestion) => {
  const before = 'params: {region: eu}\nbreakers: {warehouse: {}}\nbudgets: {api: {type: ratio}}\n'
  const problems = problemsOf(`${before}steps: [${text}]`)
  expect(problems).toMatchObject([{ line: 4, path: `steps[0].${path}`, message: expect.stringContaining(message) }])
  if (suggestion !== undefined) expect(problems[0]?.suggestion).toContain(suggestion)
})

test('an id stands once, letter case aside', () => {
  const problems = problemsOf('steps: [{id: a, shell: x}, {id: b, shell: x}, {id: A, shell: x}]')
  expect(problems).toMatchObject([{ path: 'steps[2].id', message: 'step 1 has this id already' }])
})

test('an address with references is left to the run', () => {
  expect(problemsOf('params: {u: }\nsteps: [{http: {url: "${u}/x"}}]')).toEqual([])
})

test('a gate of the defaults must be declared too, and is told once', () => {
  const problems = problemsOf('retry_defaults: {budget: nobody}\nsteps: [{shell: x}, {shell: y}]')
  expect(problems).toMatchObject([{ path: 'retry_defaults.budget' }])
})
