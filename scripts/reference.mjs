/**
 * Writes docs/reference.md from the sources: `node scripts/reference.mjs`; with `--check` it writes nothing and fails if
 * the page is not what it would write.
 *
 * Names, defaults, words, codes, event fields and metrics are read from the sources. What a word means is said here, and
 * a word without a meaning, or a meaning without its word, is an error.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'rolldown/parseAst'
import { tsImport } from 'tsx/esm/api'

const page = new URL('../docs/reference.md', import.meta.url)
const sources = new URL('../packages/reprise/src/', import.meta.url)

/** @param {string} file */
const load = (file) => tsImport(new URL(file, sources).href, import.meta.url)
/** @param {string} file */
const textOf = (file) => readFileSync(new URL(file, sources), 'utf8')

/** @type {typeof import('../packages/reprise/src/core/policy-fields.js')} */
const { POLICY_FIELDS } = await load('core/policy-fields.ts')
/** @type {typeof import('../packages/reprise/src/core/policy.js')} */
const { MATCHER_WORDS } = await load('core/policy.ts')
/** @type {typeof import('../packages/reprise/src/core/words.js')} */
const { ATTEMPT_KINDS, ATTEMPT_RESULTS, BUDGET_REASONS, STOP_REASONS } = await load('core/words.ts')
/** @type {typeof import('../packages/reprise/src/core/budgets/adaptive.js')} */
const { ADAPTIVE_REASONS } = await load('core/budgets/adaptive.ts')
/** @type {typeof import('../packages/reprise/src/core/budgets/count.js')} */
const { COUNT_REASONS } = await load('core/budgets/count.ts')
/** @type {typeof import('../packages/reprise/src/observe/index.js')} */
const { createMetrics, otel } = await load('observe/index.ts')

// ── what the words mean ──────────────────────────────────────────────────────────────────────────

const TYPESCRIPT_ONLY = {
  failIf: 'A predicate over results: where it says true, the result is a failure, a `ResultError` with the value.',
}

const MATCHERS = {
  network:
    'Connection refused, reset or aborted, host or network unreachable, DNS, broken pipe; the codes of Node and undici.',
  timeout: 'Something timed out, an attempt that ran into `attemptTimeout` included; HTTP 408.',
  server_error: 'HTTP 500 to 599.',
  '5xx': 'The same as `server_error`.',
  rate_limit: 'HTTP 429, “too many requests”, “rate limit”.',
  pattern:
    'A regular expression, case-sensitive unless it starts with `(?i)`. Neither back-references nor look-around: it runs in linear time.',
  exitCode: 'Exit codes of a command: one, or a list.',
  exit_code: 'The same in a file.',
  RetryPredicate: 'A function `(error, { key, attempt, kind }) => boolean`. TypeScript only.',
}

const STOPS = {
  attempts_exhausted: ['The last attempt failed.', "the last attempt's error itself"],
  retry_budget_exhausted: [
    'The next wait would bring the sum of waits above `retryBudget`.',
    '`RetryBudgetExhaustedError`',
  ],
  not_retryable: ['No matcher of `retryOn` fits; or a hook threw.', "the attempt's error itself; the hook's"],
  breaker_open: ['The breaker is open, or would still be after the wait.', '`BreakerOpenError`'],
  budget_denied: ['A budget did not allow an attempt.', '`BudgetDeniedError` for a first attempt, else the last error'],
  timeout: ['The whole call ran into `timeout`, or would during the next wait.', '`CallTimeoutError`'],
  aborted: ["The caller's signal aborted.", "the signal's reason itself"],
  retry_after_too_long: ['The server asks for a longer wait than `maxRetryAfter`.', "the last attempt's error itself"],
  interrupted: ['Reserved: no call ends with it.', '–'],
  no_policy: ['The key has no policy and `missingPolicyMode` is `deny`.', '`RepriseError`'],
}

const OUTCOMES = {
  success: 'The operation answered, and `failIf` did not object.',
  failure: 'It threw or rejected, or `failIf` objected.',
  timeout: 'It ran into `attemptTimeout`, or the call into `timeout`.',
  aborted: 'The caller aborted, or it lost a race.',
  interrupted: 'Reserved: no attempt ends with it.',
  denied: 'A budget did not let it start. The operation was not called.',
}

const REASONS = {
  allowed: ['yes', 'The budget allowed it.'],
  no_budget: ['yes', 'The policy names no budget, or there is no registry.'],
  budget_not_found: ['by `missingBudgetMode`', 'The policy names a budget that nobody registered.'],
  budget_denied: ['no', 'The budget refused, and gave no other word.'],
  panic_in_budget: ['no', 'The budget threw, with `recoverHookErrors`.'],
  park_expired: ['no', "The attempt stood in line for the budget's `maxParkMs`, or until the call's deadline."],
  count_exhausted: ['no', 'The total of a `countBudget` is used up.'],
  key_count_exhausted: ['no', "The key's share of a `countBudget` is used up."],
  no_credit: ['no: it parks', 'An `adaptiveBudget` has no credit or no waste left for a retry; a hedge is denied.'],
  no_slot: ['no: it parks', 'The bulkhead of an `adaptiveBudget` has no slot free.'],
  line_full: ['no', 'The line of an `adaptiveBudget` has `maxParked` places, and all are taken.'],
  probe: ['yes', 'An `adaptiveBudget` that heard nothing for a while tries one of its line.'],
}

const ERRORS = {
  RepriseError: 'Base class of all; itself where the key has no policy.',
  BudgetDeniedError: 'A budget denied the first attempt: the operation was never called.',
  RetryBudgetExhaustedError: 'The sum of waits would exceed `retryBudget`. `cause` is the last error.',
  BreakerOpenError: 'The breaker refused. `cause` is the last error, if an attempt was made.',
  AttemptTimeoutError: 'One attempt took longer than `attemptTimeout`. A failure like any other: it may be retried.',
  CallTimeoutError: 'The whole call took longer than `timeout`. `cause` is the last error, if there was one.',
  ResultError: '`failIf` declared a result a failure.',
  PolicyError: 'A policy or a duration is invalid; `problems` lists every one.',
  BudgetError: 'A budget has impossible parameters, or answered something that is no decision.',
}

const EVENTS = {
  call_started: 'A call begins.',
  attempt_started: 'The operation is about to be called.',
  attempt_finished: 'The call knows how the attempt ended.',
  waiting: 'A wait before attempt `nextAttempt` begins.',
  parked: "An attempt joined a budget's line.",
  budget_decision: 'A budget answered. There is none where no budget is named.',
  hedge_started: 'A hedge starts; `attempt_started` follows.',
  hedge_cancelled: 'A hedge was told to stop; `attempt_finished` follows.',
  breaker_changed: 'A breaker changed its phase.',
  call_succeeded: 'The call resolves. This or `call_failed`, once.',
  call_failed: 'The call rejects.',
  resumed: 'Durable tasks: this process took the task from one that is gone.',
  interrupted: 'Durable tasks: nobody will hear how the attempt in flight ended.',
  reset: 'Durable tasks: a fresh set of attempts was granted.',
  dead_lettered: 'Durable tasks: it failed for good, and is kept for people to look at.',
  state_refused: 'Durable tasks: what the ledger says cannot be; the task is left as it is.',
}

/**
 * The words with what is said of each, in the order of the words.
 * @template T
 * @param {string} what
 * @param {readonly string[]} words
 * @param {Readonly<Record<string, T>>} meanings
 * @returns {[string, T][]}
 */
function explain(what, words, meanings) {
  const stale = Object.keys(meanings).filter((word) => !words.includes(word))
  const missing = words.filter((word) => !Object.hasOwn(meanings, word))
  if (stale.length + missing.length > 0)
    throw new Error(`${what}: no meaning for [${missing.join(', ')}], no such word as [${stale.join(', ')}]`)
  return words.flatMap((word) => Object.entries(meanings).filter(([name]) => name === word))
}

// ── reading declarations ─────────────────────────────────────────────────────────────────────────

/** @typedef {Record<string, any>} Node what parseAst gives, walked by shape */

/** Declarations of a source file by name. @param {string} file */
function declarationsIn(file) {
  const { body } = /** @type {Node} */ (parseAst(textOf(file), { lang: 'ts' }))
  const nodes = body.map((/** @type {Node} */ node) => node['declaration'] ?? node)
  return new Map(nodes.map((/** @type {Node} */ node) => [node['id']?.name, node]))
}

/** Every node below that `wanted` accepts. @param {unknown} value @param {(node: Node) => boolean} wanted @returns {Node[]} */
function nodesIn(value, wanted) {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.values(value).flatMap((child) => nodesIn(child, wanted))
  return wanted(value) ? [value, ...inner] : inner
}

/** The words of a union type of strings. @param {Node | undefined} node @returns {string[]} */
const wordsIn = (node) => nodesIn(node, ({ type }) => type === 'TSLiteralType').map(({ literal }) => literal.value)

/** Members of an interface or type literal, with the source text of their types. @param {string} file @param {Node[]} members */
function fieldsOf(file, members) {
  return members.map((member) => {
    const { start, end } = member['typeAnnotation']?.typeAnnotation ?? member // a method is its own type
    return { name: member['key'].name, optional: member['optional'] === true, type: textOf(file).slice(start, end) }
  })
}

// ── the page ─────────────────────────────────────────────────────────────────────────────────────

/** @param {readonly string[]} head @param {readonly (readonly string[])[]} rows */
function table(head, rows) {
  const line = (/** @type {readonly string[]} */ cells) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

/** @param {string} text */
const code = (text) => `\`${text}\``

function policyFields() {
  const rows = POLICY_FIELDS.map((field) => [code(field.yaml), code(field.typescript), field.meaning, field.default])
  const listed = POLICY_FIELDS.map(({ typescript }) => typescript)
  const input = declarationsIn('core/policy.ts').get('PolicyInput')
  const only = fieldsOf('core/policy.ts', input.body.body).filter(({ name }) => !listed.includes(name))
  const names = only.map(({ name }) => name)
  for (const [name, meaning] of explain('policy fields', names, TYPESCRIPT_ONLY)) {
    rows.push(['–', code(name), meaning, 'none'])
  }
  return table(['In a file', 'In TypeScript', 'Meaning', 'Default'], rows)
}

function matchers() {
  const input = declarationsIn('core/policy.ts').get('MatcherInput')
  const keys = nodesIn(input, ({ type }) => type === 'TSPropertySignature').map(({ key }) => key.name)
  const forms = [...MATCHER_WORDS, ...wordsIn(input), ...keys, 'RetryPredicate']
  const rows = explain('matchers', forms, MATCHERS).map(([form, meaning]) => {
    const shown = keys.includes(form) ? `{ ${form}: … }` : form === 'RetryPredicate' ? 'a function' : form
    return [form === 'RetryPredicate' ? shown : code(shown), meaning]
  })
  return table(['Matcher', 'Fits'], rows)
}

function stopReasons() {
  const rows = explain('stop reasons', STOP_REASONS, STOPS).map(([word, texts]) => [code(word), ...texts])
  return table(['Word', 'When', 'The call rejects with'], rows)
}

function outcomes() {
  const rows = explain('outcomes', ATTEMPT_RESULTS, OUTCOMES).map(([word, meaning]) => [code(word), meaning])
  return table(['Word', 'When'], rows)
}

function budgetReasons() {
  const words = [...BUDGET_REASONS, ...COUNT_REASONS, ...ADAPTIVE_REASONS]
  const rows = explain('budget reasons', words, REASONS).map(([word, texts]) => [code(word), ...texts])
  return table(['Word', 'Allowed', 'When'], rows)
}

function errors() {
  const file = 'core/errors.ts'
  const classes = [...declarationsIn(file)].filter(([, node]) => node.type === 'ClassDeclaration')
  const meanings = new Map(explain('errors', [...classes.map(([name]) => name)], ERRORS))
  const rows = classes.map(([name, { body }]) => {
    const isField = (/** @type {Node} */ { type, key }) => type === 'PropertyDefinition' && key.type === 'Identifier'
    const fields = fieldsOf(file, body.body.filter(isField))
    const codes = fields.filter((field) => field.name === 'code').map(({ type }) => type.replaceAll("'", ''))
    const own = fields.filter((field) => field.name !== 'code').map((field) => code(field.name))
    return [
      code(name),
      codes[0] === 'ErrorCode' ? 'any' : code(codes[0] ?? ''),
      own.join(' '),
      meanings.get(name) ?? '',
    ]
  })
  return table(['Class', '`code`', 'Own fields', 'When'], rows)
}

function events() {
  const file = 'core/event.ts'
  const declarations = declarationsIn(file)
  const isEvent = (/** @type {Node} */ { type, members }) => type === 'TSTypeLiteral' && members[0]?.key.name === 'type'
  const rows = new Map(
    nodesIn(declarations.get('RepriseEvent'), isEvent).map(({ members }) => {
      const fields = fieldsOf(file, members.slice(1)).map(({ name, optional }) => code(optional ? `${name}?` : name))
      return [wordsIn(members[0])[0] ?? '', fields.join(' ')]
    }),
  )
  const meanings = explain('events', [...rows.keys()], EVENTS)
  const common = fieldsOf(file, declarations.get('EventBase').body.body).filter(({ optional }) => !optional)
  return [
    `Every event has \`type\` and ${common.map(({ name }) => code(name)).join(', ')}.`,
    '`attempt` and `attempts` are the n and N of “attempt n/N”; `number` counts launches, hedges included.',
    '',
    table(
      ['Event', 'Fields beside', 'When'],
      meanings.map(([word, meaning]) => [code(word), rows.get(word) ?? '', meaning]),
    ),
  ].join('\n')
}

/** One event of every kind that is counted, so that the metrics show their labels. */
function countableEvents() {
  const base = { timeMs: 0, key: 'k', callId: 1, attempt: 1, attempts: 3 }
  const [kind] = ATTEMPT_KINDS
  const error = undefined
  const totals = { attemptsMade: 1, totalDelayMs: 0, elapsedMs: 0 }
  /** @type {import('../packages/reprise/src/core/event.js').RepriseEvent[]} */
  const counted = [
    { ...base, type: 'attempt_finished', number: 1, kind, outcome: 'failure', durationMs: 1, won: false },
    { ...base, type: 'waiting', delayMs: 1, nextAttempt: 2, error },
    {
      ...base,
      type: 'budget_decision',
      number: 2,
      kind,
      budget: 'b',
      cost: 1,
      mode: 'gate',
      allowed: false,
      reason: '',
    },
    { ...base, type: 'parked', number: 2, budget: 'b' },
    { ...base, type: 'breaker_changed', breaker: 'k', from: 'closed', to: 'open' },
    { ...base, type: 'call_failed', stopReason: 'attempts_exhausted', error, ...totals },
    { ...base, type: 'reset', generation: 2 },
  ]
  return counted
}

function metrics() {
  const observed = createMetrics()
  for (const event of countableEvents()) observed.onEvent(event)
  const families = observed.read()
  const names = otelNames()
  const rows = families.map(({ name, type, help, samples }, index) => {
    const labels = Object.keys(samples[0]?.labels ?? {}).map(code)
    return [code(name), code(names[index] ?? ''), type, labels.join(' '), help]
  })
  const histogram = families.flatMap((family) => (family.type === 'histogram' ? family.samples : []))[0]
  const bounds = histogram?.buckets.map(({ le }) => le).join(' ') ?? ''
  return [
    table(['Prometheus', 'OpenTelemetry', 'Type', 'Labels', 'Counts'], rows),
    '',
    `OpenTelemetry's labels are \`reprise.key\` and so on. Bounds of the histograms, in seconds: ${bounds}.`,
  ].join('\n')
}

/** The names of the bridge's instruments, in the order in which they are made: the same as of the metrics. */
function otelNames() {
  /** @type {string[]} */
  const names = []
  const instrument = { add: () => undefined, record: () => undefined }
  const create = (/** @type {string} */ name) => {
    names.push(name)
    return instrument
  }
  const meter = { createCounter: create, createUpDownCounter: create, createHistogram: create, createGauge: create }
  /** @type {import('../packages/reprise/src/observe/index.js').OpenTelemetryApi} */
  const api = {
    metrics: { getMeter: () => meter },
    context: { active: () => undefined },
    trace: {
      getTracer: () => {
        throw new Error('spans are off')
      },
      setSpan: () => undefined,
    },
  }
  const bridge = otel(undefined, { api, spans: false })
  for (const event of countableEvents()) bridge.onEvent(event)
  return names
}

const reference = `# Reference

<!-- Made from the sources by \`node scripts/reference.mjs\`. Do not edit. -->

## Policy fields

Durations are text such as \`500ms\`, \`30s\`, \`1h30m\`; in TypeScript also a number of milliseconds.
[Policies](policies.md) explains the forms, [choosing a backoff](choosing-a-backoff.md) the delays.

${policyFields()}

## Matchers

What \`retryOn\` lists. One that fits is enough; an empty list fits every failure.

${matchers()}

## Stop reasons

Why a call ended without success: \`timeline.stopReason\`, the event \`call_failed\`, the label \`stop_reason\`.

${stopReasons()}

## Outcomes of an attempt

\`outcome\` of an attempt's record, of \`attempt_finished\` and of \`reprise_attempts_total\`.

${outcomes()}

## Budget reasons

\`budgetReason\` of a record and of the timeline, \`reason\` of \`budget_decision\`. Custom budgets may use other words.

${budgetReasons()}

## Errors

\`isRepriseError(error, code?)\` recognises them. The operation's own error is never wrapped.

${errors()}

## Events

${events()}

## Metrics

${metrics()}
`

if (!process.argv.includes('--check')) {
  writeFileSync(page, reference)
} else if (readFileSync(page, 'utf8') !== reference) {
  console.error(`${fileURLToPath(page)} is not what the sources say: run \`node scripts/reference.mjs\``)
  process.exitCode = 1
}
