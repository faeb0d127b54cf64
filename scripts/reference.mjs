/**
 * Writes docs/reference.md from the sources: `node scripts/reference.mjs`; with `--check` it writes nothing and fails if
 * the page is not what it would write.
 *
 * Names, defaults, words, codes, event fields and metrics are read from the sources. What a word means is said in
 * reference-words.mjs, and a word without a meaning, or a meaning without its word, is an error.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'rolldown/parseAst'
import { tsImport } from 'tsx/esm/api'
import { defaultText, exampleOf, lastPart, meaningOf, nameInFiles, POLICY_FIELDS } from './field-words.mjs'
import {
  ERRORS,
  EVENTS,
  GATE_REFUSALS,
  MATCHERS,
  OUTCOMES,
  PROBLEMS,
  REASONS,
  RECORDED,
  REFUSALS,
  STATES,
  STOPS,
} from './reference-words.mjs'

const page = new URL('../docs/reference.md', import.meta.url)
const sources = new URL('../packages/reprise/src/', import.meta.url)

/** @param {string} file */
const load = (file) => tsImport(new URL(file, sources).href, import.meta.url)
/** @param {string} file */
const textOf = (file) => readFileSync(new URL(file, sources), 'utf8')

/** @type {typeof import('../packages/reprise/src/core/policy.js')} */
const { MATCHER_WORDS } = await load('core/policy.ts')
/** @type {typeof import('../packages/reprise/src/core/words.js')} */
const { ATTEMPT_KINDS, ATTEMPT_RESULTS, BUDGET_REASONS, STOP_REASONS } = await load('core/words.ts')
/** @type {typeof import('../packages/reprise/src/core/budgets/adaptive.js')} */
const { ADAPTIVE_REASONS } = await load('core/budgets/adaptive.ts')
/** @type {typeof import('../packages/reprise/src/core/budgets/count.js')} */
const { COUNT_REASONS } = await load('core/budgets/count.ts')
/** @type {typeof import('../packages/reprise/src/ledger/records.js')} */
const { LEDGER_EVENTS, TASK_STATUSES } = await load('ledger/records.ts')
/** @type {typeof import('../packages/reprise/src/observe/index.js')} */
const { createMetrics, otel } = await load('observe/index.ts')

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

/** @param {string} name */
const isMatcher = (name) => name.startsWith('retryOn.')

function policyFields() {
  const rows = POLICY_FIELDS.filter(({ name }) => !isMatcher(name)).map((field) => {
    const inFile = field.code === undefined ? code(nameInFiles(field)) : '–'
    return [inFile, code(field.name), meaningOf(field), absentText(field), code(exampleOf(field))]
  })
  return table(['In a file', 'In TypeScript', 'Meaning', 'Default', 'Example'], rows)
}

function matchers() {
  const input = declarationsIn('core/policy.ts').get('MatcherInput')
  const keys = nodesIn(input, ({ type }) => type === 'TSPropertySignature').map(({ key }) => key.name)
  const forms = [...MATCHER_WORDS, ...wordsIn(input), 'exit:75', ...keys, 'RetryPredicate']
  const described = POLICY_FIELDS.filter(({ name }) => isMatcher(name))
  const ofTable = Object.fromEntries(described.map((field) => [lastPart(field.name), meaningOf(field)]))
  const rows = explain('matchers', forms, { ...MATCHERS, ...ofTable }).map(([form, meaning]) => {
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
      codes[0] === 'ErrorCode' ? 'as of its class' : code(codes[0] ?? ''),
      own.join(' '),
      meanings.get(name) ?? '',
    ]
  })
  return table(['Class', '`code`', 'Own fields', 'When'], rows)
}

/** @param {string} what @param {readonly string[]} words @param {Readonly<Record<string, string>>} meanings */
function glossary(what, words, meanings) {
  return table(
    ['Word', 'Means'],
    explain(what, words, meanings).map(([word, meaning]) => [code(word), meaning]),
  )
}

function durableWords() {
  const kinds = wordsIn(declarationsIn('durable/errors.ts').get('RefusalKind'))
  const gateKinds = wordsIn(declarationsIn('durable/errors.ts').get('GateRefusal'))
  const problems = wordsIn(declarationsIn('ledger/errors.ts').get('LedgerProblem'))
  return [
    `\`state\` of a task:\n\n${glossary('states', TASK_STATUSES, STATES)}`,
    '`RecordedFailureError`, code `recorded_failure`: the task failed, here or elsewhere; `stopReason`, `attempts` and `failure` are those recorded.',
    `\`TaskRefusedError\`, code \`task_refused\`: what was asked is not done, and nothing was touched. Its \`kind\`:\n\n${glossary('refusals', kinds, REFUSALS)}`,
    `\`GateRefusedError\`, code \`gate_refused\`: a [change by hand](operating.md#breakers-and-budgets-by-hand) is not made. Its \`kind\`:\n\n${glossary('gate refusals', gateKinds, GATE_REFUSALS)}`,
    `\`LedgerError\`, code \`ledger\`. Its \`problem\`:\n\n${glossary('problems', problems, PROBLEMS)}`,
    `Events in the ledger, beside attempts, which have rows of their own:\n\n${glossary('ledger events', LEDGER_EVENTS, RECORDED)}`,
  ].join('\n\n')
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
    '`attempt` and `attempts` are the n and N of “attempt n/N”; a hedge has the `attempt` of its primary. `launch` is 1, 2, 3 …',
    'over retries and hedges; a denied launch uses its number up. `attemptsMade` counts attempts of the policy, `launches` starts',
    'of the operation, both without denied ones.',
    '',
    table(
      ['Event', 'Fields beside', 'When'],
      meanings.map(([word, meaning]) => [code(word), rows.get(word) ?? '', meaning]),
    ),
  ].join('\n')
}

/** @param {(typeof POLICY_FIELDS)[number]} field */
function absentText(field) {
  const inFiles = defaultText(field) ?? '**required**'
  return field.absentInCode === undefined ? inFiles : `in files ${inFiles}; in code ${field.absentInCode}`
}

/** One event of every kind that is counted, so that the metrics show their labels. */
function countableEvents() {
  const base = { timeMs: 0, key: 'k', callId: 1, attempt: 1, attempts: 3 }
  const [kind] = ATTEMPT_KINDS
  const error = undefined
  const totals = { attemptsMade: 1, launches: 1, totalDelayMs: 0, elapsedMs: 0 }
  /** @type {import('../packages/reprise/src/core/event.js').RepriseEvent[]} */
  const counted = [
    { ...base, type: 'attempt_finished', launch: 1, kind, outcome: 'failure', durationMs: 1, won: false },
    { ...base, type: 'waiting', delayMs: 1, nextAttempt: 2, error },
    {
      ...base,
      type: 'budget_decision',
      launch: 2,
      kind,
      budget: 'b',
      cost: 1,
      mode: 'gate',
      allowed: false,
      reason: '',
    },
    { ...base, type: 'parked', launch: 2, budget: 'b' },
    { ...base, type: 'breaker_changed', breaker: 'k', from: 'closed', to: 'open' },
    { ...base, type: 'call_failed', stopReason: 'attempts_exhausted', error, ...totals },
    { ...base, type: 'reset', generation: 2 },
    { ...base, type: 'restored', resumed: 1, waiting: 1, migrated: 1, refused: 1, elapsedMs: 1 },
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

A code belongs to one class: \`isRepriseError(error, 'timeout')\` narrows to \`CallTimeoutError\`, whose fields are then there.
Without a code it recognises all of them, and comparing \`error.code\` narrows. The type \`ErrorByCode\` maps codes to classes;
those of \`reprise/durable\` and other packages are in it once they are imported. The operation's own error is never wrapped.

${errors()}

## Durable tasks

[Durable tasks](durable-tasks.md) has what to do about each.

${durableWords()}

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
