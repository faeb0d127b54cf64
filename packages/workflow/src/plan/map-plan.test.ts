import { expect, test } from 'vitest'
import { InputError, type Problem } from '../document/problem.js'
import { parseSource } from '../document/source.js'
import { readersFor } from '../values/document-readers.js'
import type { MapPlan } from './map-plan.js'
import { mapsOf, type Plan } from './plan.js'
import { planFromDocument, planOf } from './plan-of.js'
import { BLIND_READERS } from './readers.js'

const plan = (text: string): Plan => planOf(parseSource('flows/nightly.yaml', text), BLIND_READERS)

const TEMPLATE = 'agent_template: [{id: convert, shell: ./convert}]'

/** The one map of a document that has nothing else. */
function mapWith(fields: string, around = ''): MapPlan {
  const [only] = mapsOf(plan(`${around}\nsteps: [{id: resize, map: {${fields}, ${TEMPLATE}}}]`))
  if (only === undefined) throw new Error('there is no map')
  return only
}

test('a map with nothing but an input and a template has every default', () => {
  expect(mapWith('input: items.json')).toEqual({
    kind: 'map',
    id: 'resize',
    name: 'resize',
    when: null,
    onFailure: 'stop',
    input: { kind: 'file', path: 'items.json', format: null },
    selection: { jsonPath: null, filter: null, distinct: null, sortBy: [], offset: 0, maxItems: null },
    maxParallel: 8,
    rate: null,
    batch: 1,
    isolation: 'none',
    policy: { attempts: 1 },
    onInterrupt: 'rerun',
    checkpoint: 'none',
    keepLogs: 'failures',
    template: [expect.objectContaining({ kind: 'step', id: 'convert', policy: { attempts: 1 } })],
    onItemError: [],
    errors: {
      onItemFailure: 'dlq',
      tolerate: null,
      maxFailures: null,
      failureThreshold: null,
      halt: 'soon',
      haltOn: [],
      maxRetries: null,
      maxRetriesPerItem: null,
    },
  })
})

test.each<[string, MapPlan['input']]>([
  ['items.ndjson', { kind: 'file', path: 'items.ndjson', format: null }],
  ['"${dir}/${file}"', { kind: 'file', path: '${dir}/${file}', format: null }],
  ['"${orders}"', { kind: 'value', reference: '${orders}' }],
  ['{file: dump, format: csv}', { kind: 'file', path: 'dump', format: 'csv' }],
  ['{command: ./list}', { kind: 'command', action: { kind: 'shell', command: './list' }, format: null }],
  ['{shell: ./list}', { kind: 'command', action: { kind: 'shell', command: './list' }, format: null }],
  [
    '{run: [git, ls-files], format: lines}',
    { kind: 'command', action: { kind: 'run', argv: ['git', 'ls-files'] }, format: 'lines' },
  ],
  ['{glob: "*.ts"}', { kind: 'glob', patterns: ['*.ts'] }],
  ['{glob: [a, b]}', { kind: 'glob', patterns: ['a', 'b'] }],
  ['{stdin: true, format: ndjson}', { kind: 'stdin', format: 'ndjson' }],
  ['{range: [1, 500]}', { kind: 'range', from: 1, to: 500, step: 1 }],
  ['{range: [0, 10, 5]}', { kind: 'range', from: 0, to: 10, step: 5 }],
  ['{product: [[a, b], [1]]}', { kind: 'product', lists: [['a', 'b'], [1]] }],
  ['[eu, {id: 7}]', { kind: 'list', items: ['eu', { id: 7 }] }],
])('the input %s is read', (text, input) => {
  expect(mapWith(`input: ${text}`).input).toEqual(input)
})

test.each([
  ['20/s', { count: 20, perMs: 1000 }],
  ['100/m', { count: 100, perMs: 60_000 }],
  ['100/minute', { count: 100, perMs: 60_000 }],
  ['5/500ms', { count: 5, perMs: 500 }],
  ['1000/2h', { count: 1000, perMs: 7_200_000 }],
  ['9/day', { count: 9, perMs: 86_400_000 }],
])('the rate %s is read', (text, rate) => {
  expect(mapWith(`input: [], rate: ${text}`).rate).toEqual(rate)
})

test('the keys of a sort are expressions with a direction', () => {
  expect(mapWith('input: [], sort_by: [item.region, item.priority DESC, item.id asc]').selection.sortBy).toEqual([
    { expression: 'item.region', isDescending: false },
    { expression: 'item.priority', isDescending: true },
    { expression: 'item.id', isDescending: false },
  ])
})

test('shares are written as numbers or as percentages', () => {
  const { errors } = mapWith('input: [], error_policy: {tolerate: 5%, failure_threshold: 20 %}')
  expect(errors).toMatchObject({ tolerate: { share: 0.05 }, failureThreshold: 0.2 })
  expect(mapWith('input: [], error_policy: {tolerate: 3, failure_threshold: 0.5}').errors).toMatchObject({
    tolerate: { count: 3 },
    failureThreshold: 0.5,
  })
})

test('the policy of items is `item_retry` with the limit of an attempt, and not `retry_defaults`', () => {
  const around = 'retry_defaults: {attempts: 9, jitter: full}'
  expect(mapWith('input: []', around).policy).toEqual({ attempts: 1 })
  const fields = 'input: [], agent_timeout: 10m, error_policy: {item_retry: {attempts: 3, backoff: fibonacci}}'
  expect(mapWith(fields, around).policy).toEqual({ attempts: 3, backoff: 'fibonacci', attemptTimeout: '10m' })
  expect(mapWith(fields, around).template[0]?.policy).toMatchObject({ attempts: 9, jitter: 'full' })
})

test('`on_item_failure: retry` is a dead letter after the usual attempts', () => {
  const { errors, policy } = mapWith('input: [], error_policy: {on_item_failure: retry}')
  expect(errors.onItemFailure).toBe('dlq')
  expect(policy).toEqual({})
})

test('gates of items are those that the document declares', () => {
  const around = 'breakers: {w: {failure_threshold: 3}}\nbudgets: {api: {type: adaptive}}'
  const { policy } = mapWith('input: [], error_policy: {item_retry: {breaker: w, budget: api}}', around)
  expect(policy).toMatchObject({ breaker: { key: 'w', failureThreshold: 3 }, budget: 'api' })
})

test('steps of a template do not pass the gates of `retry_defaults`', () => {
  const around = 'budgets: {api: {type: adaptive}}\nretry_defaults: {attempts: 2, budget: api, breaker: {}}'
  expect(mapWith('input: []', around).template[0]?.policy).toEqual({ attempts: 2 })
})

const MAP_REDUCE = `
name: images
mode: mapreduce
setup: [{id: list, shell: ./list}]
map: {input: items.json, agent_template: [{shell: ./convert}], on_item_error: [{shell: ./tell}]}
reduce: [{shell: './report \${map.results_file}'}]
merge: [{name: publish, shell: ./publish}]
error_policy: {item_retry: 3}
`

test('`mode: mapreduce` is another spelling of a list of steps', () => {
  const steps = `
name: images
steps:
  - {id: list, shell: ./list}
  - id: map
    map:
      input: items.json
      agent_template: [{shell: ./convert}]
      on_item_error: [{shell: ./tell}]
      error_policy: {item_retry: 3}
  - {shell: './report \${map.results_file}'}
  - {name: publish, shell: ./publish}
`
  const made = plan(MAP_REDUCE)
  expect(made.phases.map(({ id }) => id)).toEqual(['list', 'map', 'step-3', 'publish'])
  expect(made).toEqual(plan(steps))
  expect(planFromDocument(JSON.parse(JSON.stringify(made.document)), made.file, BLIND_READERS)).toEqual(made)
})

test('steps of a template and of `on_item_error` have ids of their own among each other', () => {
  const [only] = mapsOf(plan(MAP_REDUCE))
  expect([...(only?.template ?? []), ...(only?.onItemError ?? [])].map(({ id }) => id)).toEqual(['step-1', 'step-2'])
})

async function problems(text: string): Promise<readonly Problem[]> {
  const source = parseSource('f.yaml', text)
  try {
    planOf(source, await readersFor(source))
  } catch (error) {
    if (error instanceof InputError) return error.problems
    throw error
  }
  return []
}

const said = async (text: string): Promise<string[]> =>
  (await problems(text)).map(({ path = '', message, suggestion = '' }) => `${path}: ${message} → ${suggestion}`)

test('the document of the test above has no problem', async () => {
  expect(await said(MAP_REDUCE)).toEqual([])
})

test.each<[string, string, RegExp]>([
  ['a template without steps', 'input: [], agent_template: []', /agent_template: needs a list of one or more/],
  ['no template', 'input: []', /map: needs `agent_template`/],
  ['no input', TEMPLATE, /map: needs `input`/],
  ['no place at all', `input: [], max_parallel: 0, ${TEMPLATE}`, /max_parallel: 0 is not a whole number from 1/],
  ['a range upside down', `input: {range: [5, 1]}, ${TEMPLATE}`, /range: it begins at 5 .* → write `\[1, 5\]`/],
  ['a range without steps', `input: {range: [1, 5, 0]}, ${TEMPLATE}`, /distance between its numbers is 0/],
  [
    'a range of too many',
    `input: {range: [1, 10000001]}, ${TEMPLATE}`,
    /range: it has more than 10000000 items → split it/,
  ],
  ['two inputs', `input: {file: a, glob: b}, ${TEMPLATE}`, /glob: `file` is there already: keep one/],
  ['an input of nothing', `input: {format: csv}, ${TEMPLATE}`, /input: needs one of file, command/],
  ['a format of values', `input: {glob: b, format: csv}, ${TEMPLATE}`, /format: says nothing beside `glob`/],
  ['a rate without a time', `input: [], rate: 20, ${TEMPLATE}`, /rate: 20 is not .* → .*`20\/s`/],
  [
    'a rate of another form',
    `input: [], rate: 20/fortnight, ${TEMPLATE}`,
    /rate: "20\/fortnight" is not a rate such as/,
  ],
  [
    'a share as a number',
    `input: [], error_policy: {tolerate: 0.05}, ${TEMPLATE}`,
    /tolerate: 0.05 is not .* → write `5%`/,
  ],
  [
    'two limits of an attempt',
    `input: [], agent_timeout: 1s, error_policy: {item_retry: {attempt_timeout: 2s}}, ${TEMPLATE}`,
    /agent_timeout: `item_retry.attempt_timeout` says the same/,
  ],
  [
    'a share of one item that never binds',
    `input: [], error_policy: {item_retry: 3, max_retries: 20, max_retries_per_item: 2}, ${TEMPLATE}`,
    /max_retries_per_item: it would never bind: 3 attempts are 2 retries at most → .* to 4 or more/,
  ],
  [
    'a share of items without retries',
    `input: [], error_policy: {max_retries: 20, max_retries_per_item: 1}, ${TEMPLATE}`,
    /it would never bind: an item has one attempt/,
  ],
  [
    'a share without a whole',
    `input: [], error_policy: {item_retry: 5, max_retries_per_item: 2}, ${TEMPLATE}`,
    /max_retries_per_item: says nothing without `max_retries`/,
  ],
  ['an undeclared gate', `input: [], error_policy: {item_retry: {budget: api}}, ${TEMPLATE}`, /"api" is not declared/],
  [
    'a gate in the template',
    'input: [], agent_template: [{shell: x, retry: {breaker: {}, budget: api}}]',
    /breaker: a step of a template passes no breaker.* → name it in the map: `item_retry: {breaker: …}`/,
  ],
  [
    'an interruption in the template',
    'input: [], agent_template: [{shell: x, on_interrupt: fail}]',
    /on_interrupt: unknown field → .*beside `agent_template`/,
  ],
  ['a map in a template', 'input: [], agent_template: [{map: {}}]', /map: unknown field → .*cannot hold another map/],
  [
    'one id twice in a template',
    'input: [], agent_template: [{id: a, shell: x}], on_item_error: [{id: A, shell: x}]',
    /on_item_error\[0\].id: step 1 has this id already/,
  ],
  ['what follows an item', `input: [], error_policy: {item_retry: {on_failure: stop}}, ${TEMPLATE}`, /on_item_failure/],
  ['a batch of none', `input: [], batch: 0, ${TEMPLATE}`, /map.batch: .* 1 to 1000/],
  ['another word for batch', `input: [], batch_size: 5, ${TEMPLATE}`, /batch_size: unknown field → .*`batch`/],
])('%s: refused with its place and a cure', async (_, fields, expected) => {
  expect((await said(`steps: [{id: resize, map: {${fields}}}]`)).join('\n')).toMatch(expected)
})

test.each<[string, RegExp]>([
  ['retry: 3', /retry: unknown field → .*item_retry/],
  ['timeout: 3s', /timeout: unknown field → .*agent_timeout/],
  ['attempt_timeout: 3s', /attempt_timeout: unknown field → .*agent_timeout/],
  ['capture: x', /capture: unknown field → .*steps\.ID\.results/],
  ['env: {A: b}', /env: unknown field → .*steps of `agent_template`/],
  ['working_dir: a', /working_dir: unknown field → .*steps of `agent_template`/],
  ['shell: x', /shell: unknown field → .*two steps/],
  ['on_interrupt: fail', /on_interrupt: unknown field → .*under `map:`/],
  ['on_failure: {fallback: {command: x}}', /on_failure: .* is not one of stop, continue/],
])('beside a map, `%s` is refused and names what a map has', async (field, expected) => {
  const text = `steps: [{id: resize, ${field}, map: {input: [], ${TEMPLATE}}}]`
  expect((await said(text)).join('\n')).toMatch(expected)
})

// ── references ───────────────────────────────────────────────────────────────────────────────────

/** A step before and a step after a map; `inner` is its template, `later` the text of the last step. */
const around = (inner: string, later = 'x', fields = ''): string => `
params: {size: 5}
env: {REGION: eu}
steps:
  - {id: list, shell: ./list, capture: found}
  - id: resize
    map:
      input: "\${found}"
      ${fields}
      agent_template: [${inner}]
      on_item_error: [{id: tell, shell: 'echo \${item.name} \${item_index}'}]
  - {id: after, shell: '${later}', capture: report}
`

test.each([
  '{shell: "echo ${item} ${item.name} ${item.key} ${item.index} ${item_key} ${item_index}"}',
  '{run: [x, "${item}", "${size}", "${found}", "${env.REGION}", "${run.id}", "${steps.list.exit_code}"]}',
  '{id: a, shell: x, capture: made}, {shell: "echo ${made} ${steps.a.status}"}',
  '{shell: x, when: item.size > size && item_index < 5}',
  '{write_file: {path: "out/${item_key}", content: {item: "${item}"}}}',
  '{shell: x, retry: {on_failure: {fallback: {command: "echo ${item.id}"}}}}',
])('steps of a template may refer to the item and to what came before: %s', async (inner) => {
  expect(await said(around(inner))).toEqual([])
})

test.each<[string, RegExp]>([
  ['{shell: "echo ${map.total}"}', /`map.total` is known once the map has ended/],
  ['{shell: "echo ${steps.resize.total}"}', /step resize has not run then/],
  ['{run: [x, "${report}"]}', /`report` is captured by step after, which has not run then/],
  ['{run: [x, "${made}"]}, {id: b, shell: x, capture: made}', /`made` is captured by step b/],
  ['{run: [x, "${itm}"]}', /`itm` is unknown.*did you mean `item`/],
  ['{shell: x, capture: size}', /`size` is a parameter already/],
  ['{shell: x, capture: item_key}', /`item_key` is a reserved word/],
])('a step of a template may not refer to what comes later: %s', async (inner, expected) => {
  expect((await said(around(inner))).join('\n')).toMatch(expected)
})

test.each([
  'echo ${steps.resize.total} ${steps.resize.succeeded} ${steps.resize.successful} ${steps.resize.results_file}',
  'echo ${steps.resize.dead} ${steps.resize.undecided} ${steps.resize.results[0]}',
  'for item in a b; do echo ${item}; done',
])('later steps may refer to what a map came to: %s', async (later) => {
  expect(await said(around('{shell: x}', later))).toEqual([])
})

test.each<[string, RegExp]>([
  ['echo ${steps.resize.exit_code}', /there is no such field.*`steps.resize.total`/],
  ['echo ${steps.resize.totl}', /did you mean `steps.resize.total`/],
  ['echo ${map.total}', /no map has the id `map` → did you mean `steps.resize.total`/],
  ['echo ${item.name}', /`item` is unknown: there is one only where a map works on its items/],
])('a later step may not refer to what a map has not: %s', async (later, expected) => {
  expect((await said(around('{shell: x}', later))).join('\n')).toMatch(expected)
})

test.each<[string, RegExp | null]>([
  ['filter: item.size > size', null],
  ['filter: item.region == env.REGION', null],
  ['distinct: size(item.tags)', null],
  ['sort_by: [item.size * 2 desc, item.id]', null],
  ['json_path: $.a[?@.b > 1]', null],
  ['filter: item.size', null],
  ['filter: size(item.tags)', /filter: this is an? .*, not true or false/],
  ['filter: item.size >', /filter: /],
  ['filter: found.size > 1', /`found` is unknown: where items are selected/],
  ['filter: item_index > 1', /`item_index` is unknown: where items are selected/],
  ['distinct: itm.id', /did you mean `item`/],
  ['sort_by: item.a +* desc', /sort_by: /],
  ['json_path: items[*]', /json_path: .* → a path begins with `\$`/],
])('where items are selected, `%s` is read', async (field, expected) => {
  const text = (await said(around('{shell: x}', 'x', field))).join('\n')
  if (expected === null) expect(text).toBe('')
  else expect(text).toMatch(expected)
})

test.each<[string, RegExp | null]>([
  ['orders.json', null],
  ['orders.jsonl', null],
  ['orders', null],
  ['{file: orders.csv, format: ndjson}', null],
  ['{command: ./list}', null],
  ['{stdin: true}', null],
  ['"${env.FILE}"', null],
  ['orders.csv', /looks into JSON and NDJSON, and the items are rows of CSV → leave it out, or select with `filter`/],
  ['"${env.DAY}.TSV"', /the items are rows of TSV/],
  ['orders.txt', /the items are lines of text/],
  ['{file: orders.json, format: csv}', /the items are rows of CSV/],
  ['{command: ./list, format: lines}', /the items are lines of text/],
  ['{stdin: true, format: tsv}', /the items are rows of TSV/],
  ['{range: [1, 3]}', /finds nothing in the items of a range/],
  ['{glob: "*.json"}', /finds nothing in the items of a glob/],
  ['{product: [[1], [2]]}', /finds nothing in the items of a product/],
])('18: a path is read with the input %s if there is a document to look into', async (input, expected) => {
  const fields = `input: ${input}, json_path: "$.orders[*]", ${TEMPLATE}`
  const text = (await said(`steps: [{id: resize, map: {${fields}}}]`)).join('\n')
  if (expected === null) expect(text).toBe('')
  else expect(text).toMatch(expected)
})

test('a mistake in a path or a sort is shown at its column', async () => {
  const [path] = await problems(around('{shell: x}', 'x', 'json_path: $.a[b]'))
  expect(path).toMatchObject({ line: 9, column: expect.any(Number) as number })
  const [sort] = await problems(around('{shell: x}', 'x', 'sort_by: item.a + itm desc'))
  expect(sort).toMatchObject({ line: 9, column: 'sort_by: item.a + '.length + 7 })
})

test.each<[string, RegExp]>([
  ['map: {}\nsteps: [{shell: x}]', /map: unknown field → write `mode: mapreduce` at the top, or make the map one of/],
  ['steps: [{foreach: x, shell: y}]', /foreach: unknown field → did you mean `map`/],
  ['steps: [{matrix: x}]', /matrix: unknown field → did you mean `map`/],
  ['steps: [{shell: y, parallel: 4}]', /parallel: unknown field → write it under `map:`/],
  ['steps: [{shell: y, items: [1]}]', /items: unknown field → write it under `map:`/],
  ['steps: [{shell: y, concurrency: 4}]', /concurrency: unknown field → write it under `map:`/],
  ['steps: [{shell: y, for_each: [1]}]', /for_each: unknown field → did you mean `map`/],
  ['mode: mapreduce\nsteps: [{shell: x}]', /steps: unknown field → the steps of map\/reduce stand under `setup`/],
  ['mode: mapredce\nsteps: [{shell: x}]', /mode: .* → did you mean `mapreduce`/],
  [
    `mode: mapreduce\nmap: {input: [], ${TEMPLATE}}\nreduce: [{id: MAP, shell: x}]`,
    /reduce\[0\].id: step 1 has this id/,
  ],
  [
    `mode: mapreduce\nmap: {input: [], ${TEMPLATE}, error_policy: {}}\nerror_policy: {}`,
    /map.error_policy: `error_policy` stands beside `map` already/,
  ],
])('what people bring from elsewhere is pointed to maps: %s', async (text, expected) => {
  expect((await said(text)).join('\n')).toMatch(expected)
})
