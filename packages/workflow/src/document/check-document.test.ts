import { expect, test } from 'vitest'
import { checkDocument } from './check-document.js'
import { Findings } from './findings.js'
import { byPlace, type Problem } from './problem.js'
import { parseSource } from './source.js'

function problemsOf(text: string): Problem[] {
  const findings = new Findings(parseSource('f.yaml', text))
  checkDocument(findings)
  return findings.problems.toSorted(byPlace)
}

/** Where the problems point, as the text that stands there. */
function pointedAt(text: string): string[] {
  return problemsOf(text).map(({ line = 0, column = 0 }) => text.split('\n')[line - 1]?.slice(column - 1) ?? '')
}

const step = (text: string): string => `steps: [${text}]`

test('every problem of a file is told at once, each at its place', () => {
  const text = `nmae: x
env:
  1A: x
secrets: API_TOKEN
steps:
  - shel: ls
    timeout: 30
  - run: []
    retry:
      atempts: 3
`
  expect(problemsOf(text).map(({ line, column, path, message }) => [line, column, path, message])).toEqual([
    [1, 1, 'nmae', 'unknown field'],
    [3, 3, 'env.1A', '"1A" is not a name for a variable: letters, digits and `_`, no digit first'],
    [4, 10, 'secrets', '"API_TOKEN" is not a list'],
    [6, 5, 'steps[0].shel', 'unknown field'],
    [7, 14, 'steps[0].timeout', "30 is not a duration from 0ms to 365d such as '30s' or '30ms'"],
    [8, 5, 'steps[1].run', 'needs a list of one or more'],
    [10, 7, 'steps[1].retry.atempts', 'unknown field'],
  ])
})

test('who misspelt a field that is needed is not told twice', () => {
  expect(problemsOf('step: [{shell: x}]')).toMatchObject([{ path: 'step', suggestion: 'did you mean `steps`?' }])
  expect(problemsOf(step('{shel: x}'))).toMatchObject([{ path: 'steps[0].shel' }])
  expect(problemsOf(step('{http: {uri: "http://a"}}'))).toMatchObject([{ path: 'steps[0].http.uri' }])
})

test.each([
  ['{shell: x, run: [x]}', 'run: [x]}]', '`shell` is there already, and a step does one thing', 'make it two steps'],
  ['{shell: x, retry: 1, retry_config: 2}', 'retry_config: 2}]', '`retry` says the same: keep one of them', undefined],
  [
    '{name: x}',
    '{name: x}]',
    'needs one of shell, run, http, script, claude, write_file, map',
    'such as `{name: fetch',
  ],
  ['{shell: x, capture_format: json}', 'capture_format: json}]', 'says nothing without `capture`', undefined],
  ['{http: {method: GET}}', 'http: {method: GET}}]', 'needs `url`', 'such as `url: https://example.com/items`'],
  ['{shell: x, retry: {hedge: {delay: 1s}}}', 'hedge: {delay: 1s}}}]', 'a workflow cannot hedge', 'one process'],
  [
    '{shell: x, retry: {on_failure: stop, onFailure: stop}}',
    'onFailure: stop}}]',
    'given in both spellings',
    undefined,
  ],
])('%s is refused', (text, place, message, suggestion) => {
  expect(pointedAt(step(text))).toEqual([place])
  const [problem] = problemsOf(step(text))
  expect(problem?.message).toBe(message)
  if (suggestion !== undefined) expect(problem?.suggestion).toContain(suggestion)
})

test.each([
  ['setup: []\nmap: {}', 'setup: []'],
  ['name: x\nreduce: []\nmerge: []\nerror_policy: {}', 'reduce: []'],
])('%j is told once that it is map/reduce and does not say so', (text, place) => {
  expect(pointedAt(text)).toEqual([place])
  expect(problemsOf(text)[0]?.message).toBe('this is map/reduce, and the document does not say so')
})

const NOTHING_STARTS = 'nothing starts by itself here: let cron or a systemd timer start `reprise run`'
const NO_ACTIONS = 'there are no ready-made actions: write what it does under `shell:`, or its program under `run:`'
const FILES_STAY =
  'files stay where a step writes them: later steps read them there; what they print is kept with `capture`'
const THIS_MACHINE =
  'steps run on the machine that `reprise` runs on: start a container with `docker run` under `shell:`'
const NO_MODULE = 'this is the file of a module; commands are lines after `shell: |`'

// ── what to write instead ────────────────────────────────────────────────────────────────────────

test.each([
  ['enviroment: {A: b}', 'did you mean `env`?'],
  ['parameters: {a: b}', 'did you mean `params`?'],
  ['retry: 3', 'did you mean `retry_defaults`?'],
  ['jobs: []', 'did you mean `steps`?'],
  ['schedule: "0 3 * * *"', NOTHING_STARTS],
  ['on: push', NOTHING_STARTS],
  ['artifacts: {paths: [dist]}', FILES_STAY],
  ['runs-on: ubuntu-latest', THIS_MACHINE],
  [
    'strategy: {matrix: {node: [20, 22]}}',
    'write `mode: mapreduce` at the top, or make the map one of the `steps`: `- {id: resize, map: {…}}`',
  ],
  ['always: [{shell: x}]', 'did you mean `finally`?'],
  ['deadline: 5m', 'did you mean `timeout`?'],
  ['dotenv: .env', 'did you mean `env_file`?'],
  ['description: nightly import', 'nothing reads it: write it as a comment, `# …`'],
  ['attempts: 5', 'write it under `retry_defaults:`: `retry_defaults: {attempts: …}`'],
  ['env: [REGION=eu]', 'write `{REGION: eu}`'],
  ['params: [region, day]', 'write `{region: , day: }`: empty ones must be given'],
  ['secrets: API_TOKEN', 'write it as a list: `[API_TOKEN]`'],
  ['breakers: {w: {key: x}}', 'the name of a breaker is its key'],
  ['breakers: {w: {threshold: 3}}', 'did you mean `failure_threshold`?'],
  ['breakers: {w: }', '`{}` has the defaults'],
  ['budgets: {api: adaptive}', 'write `{type: adaptive}`'],
  ['mode: workflows', 'did you mean `workflow`?'],
])('beside the steps, %s: the cure is said', (text, suggestion) => {
  expect(problemsOf(`${text}\nsteps: [{shell: x}]`)).toMatchObject([{ suggestion }])
})

test.each([
  ['echo hello', 'write `- shell: echo hello`'],
  ['{command: ls}', 'did you mean `shell`?'],
  ['{shell: [ls, -l]}', 'a program with its arguments is `run`; several commands are lines after `shell: |`'],
  ['{run: psql -f load.sql}', 'write `[psql, -f, load.sql]`, or use `shell`'],
  ['{run: [{echo: hi}]}', 'text that holds `: ` needs quotes'],
  ['{run: [x, 1.10]}', "write it in quotes: '1.10'"],
  ['{shell: x, cwd: /tmp}', 'did you mean `working_dir`?'],
  ['{shell: x, attempts: 5}', 'write it under `retry:`: `retry: {attempts: …}`'],
  ['{shell: x, circuit_breaker: {failure_threshold: 3}}', 'write it under `retry:`: `retry: {breaker: …}`'],
  ['{shell: x, retries: 3}', 'write `retry: {attempts: 4}`: `attempts` counts the first execution as well'],
  ['{shell: x, max-retries: 0}', 'write `retry: {attempts: 1}`: `attempts` counts the first execution as well'],
  ['{shell: x, maxAttempts: 3}', 'write `retry: {attempts: 3}`'],
  ['{shell: x, retries: {times: 3}}', 'write `retry: {attempts: …}`: `attempts` counts the first execution as well'],
  ['{shell: x, retry_delay: 5s}', 'write it under `retry:`: `retry: {initial_delay: …}`'],
  ['{shell: x, on_failure: continue}', 'write it under `retry:`: `retry: {on_failure: …}`'],
  ['{shell: x, continue-on-error: true}', 'did you mean `retry: {on_failure: continue}`?'],
  ['{shell: x, on_error: continue}', 'did you mean `retry: {on_failure: continue}`?'],
  ['{shell: x, timeout: 5 Minutes}', 'did you mean `5m`?'],
  ['{shell: x, retry: {initial_delay: 500 MS}}', 'did you mean `500ms`?'],
  ['{shell: x, retry: {retry_on: ["exit_code:75"]}}', 'did you mean `exit:75`?'],
  [
    '{shell: x, capture: {out: stdout}}',
    'it is a name alone: `capture: answer`; JSON has `capture_format: json` beside it',
  ],
  ['{shell: x, schedule: daily}', NOTHING_STARTS],
  ['{shell: x, uses: actions/checkout@v4}', NO_ACTIONS],
  ['{shell: x, artifacts: [dist]}', FILES_STAY],
  ['{shell: x, image: "node:22"}', THIS_MACHINE],
  ['{shell: x, foreach: [a, b]}', 'did you mean `map`?'],
  ['{shell: x, always: true}', 'it belongs to the document: write it beside `steps`, as a list of steps'],
  ['{script: "npm ci\\nnpm test\\n"}', NO_MODULE],
  ['{script: [npm ci, npm test]}', NO_MODULE],
  ['{shell: x, depends_on: [y]}', 'steps run one after the other, in the order of the file'],
  ['{shell: x, if: y}', 'did you mean `when`?'],
  ['{shell: x, secrets: [A]}', 'it belongs to the document: write it beside `steps`'],
  ['{shell: x, capture: my-items}', 'did you mean `my_items`?'],
  ['{shell: x, id: a b}', 'did you mean `a-b`?'],
  ['{shell: x, id: 5}', "write it in quotes: '5'"],
  ['{shell: x, env: A=b}', 'write `{A: b}`'],
  ['{shell: x, rety: 5}', 'did you mean `retry`?'],
  ['{shell: }', 'give it a value, or leave it out'],
  ['{shell: " "}', 'give it a value, or leave it out'],
  ['{http: https://example.com}', 'write `{url: https://example.com}`'],
  ['{http: {url: "http://a", method: post}}', 'did you mean `POST`?'],
  ['{http: {url: "http://a", expect: 200}}', 'write `{status: 200}`'],
  ['{http: {url: "http://a", status: 200}}', 'write it as `expect: {status: [200]}`'],
  ['{script: {file: x}}', 'did you mean `module`?'],
  ['{claude: {message: x}}', 'did you mean `prompt`?'],
  ['{write_file: out.txt}', 'write `{path: out.txt, content: …}`'],
  ['{write_file: {path: a, content: b, mode: 0644}}', "write it in quotes: '0644'"],
  ['{shell: x, retry: {on_failure: contine}}', 'did you mean `continue`?'],
  ['{shell: x, retry: {on_failure: {fallback: ./y}}}', 'write `{command: ./y}`'],
  [
    '{shell: x, retry: {breaker: 5}}',
    'give the name of one under `breakers:`, or fields such as `{failure_threshold: 5}`',
  ],
  ['{shell: x, on_interrupt: {check: y}}', 'did you mean `verify`?'],
  ['{shell: x, on_interrupt: reruns}', 'did you mean `rerun`?'],
])('%s: the cure is said', (text, suggestion) => {
  expect(problemsOf(step(text))).toMatchObject([{ suggestion }])
})

test.each([
  ['steps by name', 'steps: {fetch: {shell: x}}', 'begin each step with `- `: `- shell: …`'],
  ['a list of steps alone', '- shell: x', 'write the list under `steps:`'],
  ['nothing', '', 'a workflow is as short as `steps: [{shell: ./fetch}]`'],
  [
    'a number of retries',
    'retries: 2\nsteps: [{shell: x}]',
    'write `retry_defaults: {attempts: 3}`: `attempts` counts the first execution as well',
  ],
  ['steps that are no list', 'steps: {name: a, shell: x}', 'begin each step with `- `: `- shell: …`'],
  ['a step without a space', 'steps: {-shell: x}', 'a space is missing behind `-`: `- shell: …`'],
  ['variables as a list', 'env: [{A: b}]\nsteps: [{shell: x}]', 'leave out the `- ` before each field'],
  ['no steps', 'name: x', 'such as `{steps: [{shell: ./fetch}]}`'],
])('%s is told what a workflow is', (_, text, suggestion) => {
  expect(problemsOf(text)).toMatchObject([{ suggestion }])
})

test.each(['params: {env: 1}', 'params: {package: 1}', 'params: {in: 1}'])('%s: the name is reserved', (text) => {
  expect(problemsOf(`${text}\nsteps: [{shell: x}]`)).toMatchObject([
    { message: expect.stringContaining('is a reserved word') },
  ])
})

test('very many keys that nobody knows take no time, and the first are told a cure', () => {
  const keys = Array.from({ length: 15_000 }, (_, index) => `retyr${index}: 1`).join(', ')
  const problems = problemsOf(step(`{shell: x, ${keys}, retry: {${keys}}}`))
  expect(problems).toHaveLength(30_000)
  expect(problems.filter(({ suggestion }) => suggestion !== undefined).length).toBeLessThan(200)
})
