/**
 * What to write instead, for mistakes that are made often: words of other tools, keys at the wrong place, a value of the
 * wrong kind. Keyed by the title of the fields. Imports shapes and their words.
 */
import { nearest } from 'reprise/internal'
import { type Form, type Hints, meaning, said, under } from './hint-words.js'
import { MAP_FORMS, MAP_INSTEAD, MAP_KEYS, MAP_REDUCE_INSTEAD } from './hints-map.js'
import type { Shape } from './shape.js'
import { kindsOf, kindOfValue } from './shape-words.js'
import { shortened } from './shortened.js'

/** `enviroment` is `environment`. */
const MIN_FUZZY = 7
/** Longer values are not written out again. */
const MAX_FORM = 60

const UNDER_RETRY =
  'attempts backoff initial_delay max_delay jitter jitter_factor retry_on retry_budget attempt_timeout max_retry_after budget breaker on_failure'

/** What other tools have and Reprise leaves to others; at a step and beside the steps. */
const LEFT_TO_OTHERS: Hints = {
  ...said(
    'nothing starts by itself here: let cron or a systemd timer start `reprise run`',
    'schedule schedules cron crontab on trigger triggers interval every',
  ),
  ...said(
    'there are no ready-made actions: write what it does under `shell:`, or its program under `run:`',
    'uses action plugin',
  ),
  ...said(
    'files stay where a step writes them: later steps read them there; what they print is kept with `capture`',
    'artifacts artifact cache workspace',
  ),
  ...said(
    'steps run on the machine that `reprise` runs on: start a container with `docker run` under `shell:`',
    'runson image container services docker agent pool vmimage',
  ),
}

/** What other tools call our keys, without case, dashes and underscores. */
const STEP_KEYS: Hints = {
  ...LEFT_TO_OTHERS,
  ...meaning('shell', 'command cmd bash sh exec script_text'),
  ...meaning('run', 'argv program'),
  ...meaning('http', 'url request fetch curl'),
  ...meaning('claude', 'prompt agent ai'),
  ...meaning('working_dir', 'cwd dir directory workdir workingdirectory chdir'),
  ...meaning('env', 'environment envs vars variables'),
  ...meaning('capture', 'output outputs register save as captureoutput stdout'),
  ...meaning('when', 'if condition only unless'),
  ...meaning('until', 'waituntil waitfor poll polluntil retryuntil repeatuntil'),
  ...meaning('attempt_timeout', 'attempttimeout timeoutseconds timeoutminutes timeoutms deadline'),
  ...meaning('retry', 'retrypolicy'),
  ...under('retry', 'breaker', 'circuitbreaker circuit'),
  ...under('retry', 'initial_delay', 'retrydelay retryinterval retrywait delay backoffdelay'),
  ...meaning('name', 'title label description'),
  ...meaning('write_file', 'file write copy'),
  ...under('retry', UNDER_RETRY.replace('attempt_timeout ', '')),
  ...meaning('retry: {on_failure: continue}', 'continueonerror allowfailure ignoreerrors onerror'),
  ...said('steps run one after the other, in the order of the file', 'needs dependson after before'),
  ...MAP_INSTEAD,
  ...said('a map cannot stand here: make it one of the `steps`', 'map'),
  ...said('it belongs to the document: write it beside `steps`, as a list of steps', 'finally always ensure'),
  ...said('write it under `http:`: `http: {url: …}`', 'method headers body'),
  ...said('it belongs to the document: write it beside `steps`', 'secrets params breakers budgets retrydefaults'),
  ...said('write it under `script:`: `script: {module: …, with: …}`; a command gets values by `env:`', 'with'),
  ...said('write it under `on_interrupt:`: `on_interrupt: {verify: …}`', 'verify'),
  ...said('write it under `retry:`: `retry: {on_failure: {fallback: {command: …}}}`', 'fallback'),
}

/** For what was meant to be the steps. */
export const STEPS_HINT = 'did you mean `steps`?'

const WORKFLOW_KEYS: Hints = {
  ...LEFT_TO_OTHERS,
  ...MAP_REDUCE_INSTEAD,
  ...meaning('steps', 'step task command jobs stages pipeline workflow'),
  ...meaning('params', 'parameters inputs args arguments vars variables'),
  ...meaning('env', 'environment'),
  ...meaning('secrets', 'secret'),
  ...meaning('retry_defaults', 'retry retryconfig defaults retrypolicy'),
  ...meaning('breakers', 'breaker circuitbreaker circuitbreakers'),
  ...meaning('budgets', 'budget'),
  ...meaning('outputs', 'output results result returns'),
  ...meaning('name', 'title id'),
  ...said('nothing reads it: write it as a comment, `# …`', 'description version'),
  ...meaning('timeout', 'deadline maxduration timelimit timeoutminutes timeoutseconds'),
  ...meaning('concurrency', 'mutex lock group singleton exclusive concurrencygroup'),
  ...meaning('env_file', 'envfiles dotenv environmentfile'),
  ...under('retry_defaults', UNDER_RETRY.replace('budget breaker on_failure', '').trim()),
  ...meaning('on_failure', 'onerror catch rescue except failure'),
  ...meaning('finally', 'always ensure cleanup teardown post onexit afterscript'),
}

const JOB_KEYS: Hints = {
  ...meaning('datacenters', 'dcs sites regions targets datacentres'),
  ...meaning('workflows', 'steps tasks jobs'),
  ...meaning('stragglers', 'straggler'),
  ...meaning('aggregate', 'aggregates aggregation outputs'),
  ...meaning('retries: none', 'noretries'),
  ...meaning('retry_budget', 'maxretries budget'),
  ...meaning('retry_budget_per_workflow', 'maxretriesperworkflow'),
  ...under('best_effort', 'min_dcs', 'mindcs besteffortmindcs'),
  ...under('best_effort', 'deadline', 'deadline besteffortdeadline besteffortdeadlineseconds'),
  ...under('best_effort', 'settle', 'settle besteffortsettle besteffortsettleseconds'),
}

const KEYS: Readonly<Record<string, Hints>> = {
  ...MAP_KEYS,
  step: STEP_KEYS,
  'template step': { ...STEP_KEYS, ...MAP_KEYS['template step'] },
  workflow: WORKFLOW_KEYS,
  mapreduce: { ...WORKFLOW_KEYS, ...MAP_KEYS['mapreduce'] },
  http: {
    ...meaning('url', 'uri address href'),
    ...meaning('body', 'data json payload'),
    ...meaning('headers', 'header'),
    ...said('write it as `expect: {status: [200]}`', 'status statuses expectstatus'),
    ...said('a step has a limit: write `attempt_timeout` beside `http`', 'timeout'),
  },
  job: JOB_KEYS,
  'job workflow': {
    ...meaning('file', 'path workflow uses'),
    ...meaning('document', 'steps content definition'),
    ...meaning('needs', 'dependson after requires'),
    ...meaning('params', 'parameters inputs args with'),
    ...meaning('name', 'id title'),
  },
  'best effort': {
    ...meaning('min_dcs', 'mindatacenters minimum min'),
    ...meaning('deadline', 'timeout deadlineseconds'),
    ...meaning('settle', 'settleseconds grace'),
  },
  concurrency: {
    ...meaning('group', 'name key'),
    ...meaning('on_conflict', 'mode strategy policy conflict'),
    ...said('write `on_conflict: cancel_old`', 'cancelinprogress'),
  },
  expect: meaning('status', 'code statuscode statuses'),
  script: { ...meaning('module', 'file path src'), ...meaning('with', 'args input params arguments') },
  claude: meaning('prompt', 'text message'),
  write_file: { ...meaning('path', 'file name to'), ...meaning('content', 'text data body contents') },
  fallback: meaning('command', 'shell run cmd'),
  on_interrupt: meaning('verify', 'check command shell'),
  breaker: said('the name of a breaker is its key', 'key name'),
}

/** Keys of other tools that count retries, or attempts, and stand where we have `retry` or `retry_defaults`. */
const COUNTS_RETRIES: ReadonlySet<string> = new Set(['retries', 'maxretries', 'retrycount', 'retrytimes', 'retrylimit'])
const COUNTS_ATTEMPTS: ReadonlySet<string> = new Set(['maxattempts', 'tries', 'maxtries'])
const RETRY_OF: Hints = {
  step: 'retry',
  'template step': 'retry',
  workflow: 'retry_defaults',
  mapreduce: 'retry_defaults',
}

/** A number of retries is one less than `attempts`, which counts the first execution. */
function hintForCount(word: string, value: unknown, title: string): string | undefined {
  const owner = Object.hasOwn(RETRY_OF, title) ? RETRY_OF[title] : undefined
  const counted = COUNTS_RETRIES.has(word) ? 1 : COUNTS_ATTEMPTS.has(word) ? 0 : undefined
  if (owner === undefined || counted === undefined) return undefined
  const attempts = Number.isSafeInteger(value) ? (value as number) + counted : undefined
  const first = counted === 1 ? ': `attempts` counts the first execution as well' : ''
  return `write \`${owner}: {attempts: ${attempts ?? '…'}}\`${first}`
}

/** A cure for a key that nobody knows. */
export function hintForKey(key: string, title: string, value?: unknown): string | undefined {
  const hints = KEYS[title] ?? {}
  const word = key.replaceAll(/[-_]/g, '').toLowerCase()
  const count = hintForCount(word, value, title)
  if (count !== undefined) return count
  if (Object.hasOwn(hints, word)) return hints[word]
  // A slip in a word of some other tool; short words are near to everything.
  const near = word.length < MIN_FUZZY ? undefined : nearest(word, Object.keys(hints))
  return near === undefined ? undefined : hints[near]
}

/** A cure for a value that is not what should stand there. `owner` is the field, as `step.run`. */
export function hintForValue(value: unknown, shape: Shape, owner: string): string | undefined {
  const kind = kindOfValue(value)
  const form = formFor(owner)?.(value, kind)
  if (form !== undefined) return form
  if (typeof value === 'string') {
    const near = nearest(value, wordsIn(shape))
    if (near !== undefined) return `did you mean \`${near}\`?`
    if (shape.kind === 'list') return `write it as a list: \`[${shortened(value)}]\``
    if (shape.kind === 'number' && /^\d+(\.\d+)?$/.test(value)) return `write it without quotes: \`${value}\``
  }
  if (kindsOf(shape).includes('text')) {
    if (kind === 'number' || kind === 'flag') return `write it in quotes: '${String(value)}'`
    if (kind === 'fields' && shape.kind === 'text') return 'text that holds `: ` needs quotes'
  }
  if (kind === 'list' && shape.kind === 'fork' && shape.key === 'mode') return 'write the list under `steps:`'
  if (kind === 'list' && (shape.kind === 'fields' || shape.kind === 'fork' || shape.kind === 'named'))
    return 'leave out the `- ` before each field'
  return value === null ? EMPTY[owner.replace(/^mapreduce\./, 'workflow.')] : undefined
}

function wordsIn(shape: Shape): readonly string[] {
  if (shape.kind === 'either') return shape.of.flatMap(wordsIn)
  return shape.kind === 'words' ? shape.words : []
}

/** What a value would be in the form that is wanted. */
const FORMS: Readonly<Record<string, Form>> = {
  ...MAP_FORMS,
  'step.shell': (_, kind) =>
    kind === 'list' ? 'a program with its arguments is `run`; several commands are lines after `shell: |`' : undefined,
  'step.run': text((value) => `write \`[${value.trim().split(/\s+/).join(', ')}]\`, or use \`shell\``),
  'step.script': (value, kind) =>
    kind === 'list' || (typeof value === 'string' && /[\r\n]/.test(value))
      ? 'this is the file of a module; commands are lines after `shell: |`'
      : undefined,
  'step.http': text((value) => `write \`{url: ${value}}\``),
  'step.env': variables,
  'workflow.env': variables,
  'workflow.params': (value) =>
    Array.isArray(value)
      ? `write \`{${value.map((name) => `${String(name)}: `).join(', ')}}\`: empty ones must be given`
      : undefined,
  'workflow.on_failure': (value) =>
    value === 'continue' || value === 'stop'
      ? `this is a list of steps that run after a failure; for every step write \`retry_defaults: {on_failure: ${value}}\``
      : writeShellStep(value),
  'workflow.finally': (value) => writeShellStep(value),
  'workflow.steps': (value, kind) => (kind === 'fields' ? stepsAsList(value) : writeShell(value, kind)),
  'step.capture': (_, kind) =>
    kind === 'fields' ? 'it is a name alone: `capture: answer`; JSON has `capture_format: json` beside it' : undefined,
  'step.write_file': text((value) => `write \`{path: ${value}, content: …}\``),
  'on_failure.fallback': text((value) => `write \`{command: ${value}}\``),
  'http.expect': (value, kind) =>
    kind === 'number' || kind === 'list' ? `write \`{status: ${JSON.stringify(value)}}\`` : undefined,
  'write_file.mode': (_, kind) => (kind === 'number' ? "write it in quotes: '0644'" : undefined),
}

/** Those of a step also in a template, those of a workflow also in map/reduce. */
function formFor(owner: string): Form | undefined {
  const usual = owner.replace(/^template /, '').replace(/^mapreduce\./, 'workflow.')
  return Object.hasOwn(FORMS, owner) ? FORMS[owner] : Object.hasOwn(FORMS, usual) ? FORMS[usual] : undefined
}

function text(write: (value: string) => string): Form {
  return (value) => (typeof value === 'string' && value.length <= MAX_FORM ? write(value) : undefined)
}

/** A list of steps that was written as one command, or as one step. */
function writeShellStep(value: unknown): string | undefined {
  if (typeof value === 'string' && value.length <= MAX_FORM) return `write a list of steps: \`- shell: ${value}\``
  return typeof value === 'object' && value !== null ? stepsAsList(value) : undefined
}

const writeShell = text((value) => `write \`- shell: ${value}\``)

/** Steps without the `- ` of a list, or without its space. */
function stepsAsList(value: unknown): string {
  const stuck = Object.keys(value as object).find((key) => /^-\w/.test(key))
  if (stuck !== undefined) return `a space is missing behind \`-\`: \`- ${shortened(stuck.slice(1))}: …\``
  return 'begin each step with `- `: `- shell: …`'
}

/** `NAME=value` is how a shell has them. */
function variables(value: unknown): string | undefined {
  const pairs = (Array.isArray(value) ? value : [value]).map((one) => /^(\w+)=(.*)$/.exec(String(one)))
  const isShort = pairs.length < 4 && String(value).length <= MAX_FORM
  if (!isShort || pairs.includes(null)) return undefined
  return `write \`{${pairs.map((pair) => `${pair?.[1] ?? ''}: ${pair?.[2] ?? ''}`).join(', ')}}\``
}

const EMPTY: Hints = {
  'workflow.params': 'such as `{region: eu}`, or leave it out',
  'workflow.steps': 'such as `[{name: fetch, shell: ./fetch}]`',
}
