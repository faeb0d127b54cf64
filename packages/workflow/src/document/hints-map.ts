/**
 * What to write instead, for keys and values of maps: words of other tools, and keys that belong to a step. Keyed by the
 * title of the fields, without case, dashes and underscores. Imports how hints are written.
 */
import { type Form, type Hints, meaning, said, under } from './hint-words.js'

const IN_TEMPLATE = 'write it in the steps of `agent_template`'
const RETRY_KEYS = 'attempts backoff initialdelay maxdelay jitter jitterfactor retryon retrybudget breaker budget'

/** Of tools that run a step for each of something. */
const FOR_EACH = 'foreach matrix strategy forall loop withitems each maps mapreduce'

/** For steps on their own. */
export const MAP_INSTEAD: Hints = {
  ...meaning('map', FOR_EACH),
  ...said(
    'write it under `map:`: `map: {input: items.json, max_parallel: 8, agent_template: [{shell: …}]}`',
    'items input agenttemplate template concurrency maxparallel parallelism parallel',
  ),
}

/** For documents without a mode. */
export const MAP_REDUCE_INSTEAD = said(
  'write `mode: mapreduce` at the top, or make the map one of the `steps`: `- {id: resize, map: {…}}`',
  `setup reduce merge errorpolicy map ${FOR_EACH}`,
)

export const MAP_KEYS: Readonly<Record<string, Hints>> = {
  'template step': {
    ...said('a map decides it for its items: write `on_interrupt` beside `agent_template`', 'oninterrupt verify'),
    ...said('a template cannot hold another map: make it a step of its own, after this map', `map ${FOR_EACH}`),
    ...said('write it in the map: `item_retry: {breaker: …}`', 'breaker'),
    ...said('write it in the map: `item_retry: {budget: …}`', 'budget'),
  },
  'map step': {
    ...said(
      'items are retried: write `error_policy: {item_retry: {attempts: 3}}` under `map:`',
      `retry retryconfig itemretry ${RETRY_KEYS}`,
    ),
    ...said(
      'an attempt of an item has a limit: write `agent_timeout` under `map:`',
      'timeout attempttimeout agenttimeout',
    ),
    ...said('later steps read `${steps.ID.results}` and `${steps.ID.results_file}`', 'capture captureformat'),
    ...said(IN_TEMPLATE, 'env workingdir until'),
    ...said('a step does one thing: make it two steps', 'shell run http script claude writefile'),
    ...said(
      'write it under `map:`',
      'oninterrupt input jsonpath filter distinct sortby offset maxitems maxparallel rate batch isolation checkpoint keeplogs agenttemplate onitemerror errorpolicy',
    ),
  },
  map: {
    ...meaning('input', 'items foreach source from data list in matrix'),
    ...meaning('agent_template', 'steps template tasks commands do agent foreachitem'),
    ...meaning('max_parallel', 'parallel concurrency parallelism workers jobs maxconcurrency'),
    ...meaning('batch', 'batchsize chunk chunksize itemsperattempt maxitemsperbatch'),
    ...meaning('isolation', 'workspace sandbox worktree worktrees isolated'),
    ...meaning('agent_timeout', 'timeout attempttimeout itemtimeout'),
    ...meaning('sort_by', 'sort order orderby'),
    ...meaning('max_items', 'limit take'),
    ...meaning('offset', 'skip'),
    ...meaning('filter', 'where when if'),
    ...meaning('distinct', 'unique uniqueby'),
    ...meaning('rate', 'ratelimit throttle'),
    ...meaning('on_item_error', 'onerror onfailure'),
    ...under('error_policy', 'item_retry', 'retry itemretry retries'),
    ...under(
      'error_policy',
      'on_item_failure tolerate max_failures failure_threshold halt halt_on max_retries max_retries_per_item',
    ),
    ...said(IN_TEMPLATE, 'env workingdir shell run capture'),
  },
  input: {
    ...meaning('file', 'path json csv'),
    ...meaning('command', 'cmd exec'),
    ...meaning('run', 'argv'),
    ...meaning('glob', 'files pattern globs'),
    ...meaning('product', 'matrix'),
    ...said('write the list itself: `input: [a, b]`', 'list items values'),
  },
  error_policy: {
    ...meaning('item_retry', 'retry retryconfig retrypolicy'),
    ...meaning('max_failures', 'maxerrors maxfailed'),
    ...meaning('on_item_failure', 'onfailure onerror'),
    ...meaning('tolerate', 'tolerance toleratedfailures toleratedfailurepercentage'),
    ...under('item_retry', 'attempts backoff initial_delay max_delay jitter retry_on retry_budget breaker budget'),
  },
  mapreduce: {
    ...said('the steps of map/reduce stand under `setup`, `reduce` and `merge`', 'steps tasks commands'),
    ...said('write it under `map:`', 'input agenttemplate maxparallel jsonpath filter'),
  },
}

export const MAP_FORMS: Readonly<Record<string, Form>> = {
  'map.rate': (value) => (typeof value === 'number' ? `name the time as well: \`${value}/s\`` : undefined),
  'error_policy.tolerate': (value) =>
    typeof value === 'number' && value > 0 && value < 1 ? `write \`${Math.round(value * 1e7) / 1e5}%\`` : undefined,
  'error_policy.failure_threshold': (value) =>
    typeof value === 'number' && value > 1 && value <= 100 ? `write \`${value}%\`` : undefined,
  'map.agent_template': (_, kind) => (kind === 'fields' ? 'begin each step with `- `: `- shell: …`' : undefined),
}
