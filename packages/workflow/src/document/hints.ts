/**
 * What to write instead, for mistakes that are made often: words of other tools, keys at the wrong place, a value of the
 * wrong kind. Keyed by the title of the fields. Imports shapes and their words.
 */
import type { Shape } from './shape.js'
import { kindsOf, kindOfValue, shortened } from './shape-words.js'

type Hints = Readonly<Record<string, string>>

const UNDER_RETRY =
  'attempts backoff initial_delay max_delay jitter jitter_factor retry_on retry_budget attempt_timeout max_retry_after budget breaker on_failure'

/** What other tools call our keys, without case, dashes and underscores. */
const STEP_KEYS: Hints = {
  ...meaning('shell', 'command cmd bash sh exec script_text'),
  ...meaning('run', 'argv program'),
  ...meaning('http', 'url request fetch curl'),
  ...meaning('claude', 'prompt agent ai'),
  ...meaning('working_dir', 'cwd dir directory workdir workingdirectory chdir'),
  ...meaning('env', 'environment envs vars variables'),
  ...meaning('capture', 'output outputs register save as captureoutput stdout'),
  ...meaning('when', 'if condition only unless'),
  ...meaning('timeout', 'timeoutseconds timeoutminutes timeoutms deadline'),
  ...meaning('retry', 'retries maxretries maxattempts retrypolicy'),
  ...meaning('name', 'title label description'),
  ...meaning('write_file', 'file write copy'),
  ...under('retry', UNDER_RETRY),
  ...meaning('retry: {on_failure: continue}', 'continueonerror allowfailure ignoreerrors'),
  ...said('steps run one after the other, in the order of the file', 'needs dependson after before parallel'),
  ...said('write it under `http:`: `http: {url: …}`', 'method headers body'),
  ...said('write it under `on_interrupt:`: `on_interrupt: {verify: …}`', 'verify'),
  ...said('write it under `retry:`: `retry: {on_failure: {fallback: {command: …}}}`', 'fallback onerror'),
}

const WORKFLOW_KEYS: Hints = {
  ...meaning('steps', 'step task command jobs stages pipeline workflow'),
  ...meaning('params', 'parameters inputs args arguments vars variables'),
  ...meaning('env', 'environment'),
  ...meaning('secrets', 'secret'),
  ...meaning('retry_defaults', 'retry retryconfig defaults retrypolicy retries'),
  ...meaning('breakers', 'breaker circuitbreaker circuitbreakers'),
  ...meaning('budgets', 'budget'),
  ...meaning('name', 'title id'),
  ...said('a step has a timeout: write it there, or `attempt_timeout` under `retry_defaults:`', 'timeout'),
  ...under('retry_defaults', UNDER_RETRY.replace('budget breaker ', '')),
}

const KEYS: Readonly<Record<string, Hints>> = {
  step: STEP_KEYS,
  workflow: WORKFLOW_KEYS,
  http: {
    ...meaning('url', 'uri address href'),
    ...meaning('body', 'data json payload'),
    ...meaning('headers', 'header'),
    ...said('write it as `expect: {status: [200]}`', 'status statuses expectstatus'),
    ...said('a step has a timeout: write it beside `http`', 'timeout'),
  },
  expect: meaning('status', 'code statuscode statuses'),
  script: { ...meaning('module', 'file path src'), ...meaning('with', 'args input params arguments') },
  claude: meaning('prompt', 'text message'),
  write_file: { ...meaning('path', 'file name to'), ...meaning('content', 'text data body contents') },
  fallback: meaning('command', 'shell run cmd'),
  on_interrupt: meaning('verify', 'check command shell'),
  breaker: said('the name of a breaker is its key', 'key name'),
}

/** A cure for a key that nobody knows. */
export function hintForKey(key: string, title: string): string | undefined {
  const hints = KEYS[title] ?? {}
  const word = key.replaceAll(/[-_]/g, '').toLowerCase()
  return Object.hasOwn(hints, word) ? hints[word] : undefined
}

/** A cure for a value that is not what should stand there. `owner` is the field, as `step.run`. */
export function hintForValue(value: unknown, shape: Shape, owner: string): string | undefined {
  const kind = kindOfValue(value)
  if (typeof value === 'string') {
    const form = FORMS[owner]?.(value)
    if (form !== undefined) return form
    if (shape.kind === 'list') return `write it as a list: \`[${shortened(value)}]\``
    if (shape.kind === 'number' && /^\d+(\.\d+)?$/.test(value)) return `write it without quotes: \`${value}\``
  }
  if (owner === 'write_file.mode' && kind === 'number') return "write it in quotes: '0644'"
  if ((kind === 'number' || kind === 'flag') && kindsOf(shape).includes('text'))
    return `write it in quotes: '${String(value)}'`
  if (kind === 'list' && (shape.kind === 'named' || shape.kind === 'fields')) return `such as \`${shape.example}\``
  return value === null ? EMPTY[owner] : undefined
}

/** What a text would be in the form that is wanted. */
const FORMS: Readonly<Record<string, (text: string) => string>> = {
  'step.run': (text) => `write \`[${shortened(text.trim().split(/\s+/).join(', '))}]\`, or use \`shell\``,
  'step.http': (text) => `write \`{url: ${shortened(text)}}\``,
  'step.env': () => 'write `{NAME: value}`',
  'workflow.env': () => 'write `{NAME: value}`',
  'workflow.steps': (text) => `write \`- shell: ${shortened(text)}\``,
  'step.write_file': (text) => `write \`{path: ${shortened(text)}, content: …}\``,
  'on_failure.fallback': (text) => `write \`{command: ${shortened(text)}}\``,
}

const EMPTY: Hints = {
  'workflow.params': 'such as `{region: eu}`, or leave it out',
  'workflow.steps': 'such as `[{name: fetch, shell: ./fetch}]`',
}

function meaning(name: string, aliases: string): Hints {
  return said(`did you mean \`${name}\`?`, aliases)
}

function under(parent: string, names: string): Hints {
  const entries = names.split(' ').map((name): [string, string] => {
    return [name.replaceAll('_', ''), `write it under \`${parent}:\`: \`${parent}: {${name}: …}\``]
  })
  return Object.fromEntries(entries)
}

function said(hint: string, words: string): Hints {
  return Object.fromEntries(words.split(' ').map((word) => [word, hint]))
}
