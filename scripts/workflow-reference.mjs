/**
 * Writes docs/workflow-reference.md from the tables of fields: `node scripts/workflow-reference.mjs`; with `--check` it
 * writes nothing and fails if the page is not what it would write.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { tsImport } from 'tsx/esm/api'
import { stringify } from 'yaml'

/** @typedef {import('../packages/workflow/src/document/shape.js').Shape} Shape */
/** @typedef {import('../packages/workflow/src/document/shape.js').Field} Field */
/** @typedef {import('../packages/workflow/src/document/shape.js').FieldsShape} FieldsShape */

const page = new URL('../docs/workflow-reference.md', import.meta.url)
const sources = new URL('../packages/workflow/src/', import.meta.url)

/** @param {string} file */
const load = (file) => tsImport(new URL(file, sources).href, import.meta.url)

/** @type {typeof import('../packages/workflow/src/document/fields-document.js')} */
const { WORKFLOW } = await load('document/fields-document.ts')
/** @type {typeof import('../packages/workflow/src/document/budget-types.js')} */
const { BUDGET_TYPES, kindOf } = await load('document/budget-types.ts')
/** @type {typeof import('../packages/workflow/src/document/limits.js')} */
const { MAX_ALIASES, MAX_DEPTH, MAX_VALUES } = await load('document/limits.ts')
/** @type {typeof import('../packages/workflow/src/document/names.js')} */
const { VALUE_NAME } = await load('document/names.ts')
/** @type {typeof import('../packages/workflow/src/plan/reference-check.js')} */
const { END_VALUES, MAP_VALUES, RUN_VALUES, STEP_VALUES } = await load('plan/reference-check.ts')

/** Every group of fields by its title. @type {Map<string, FieldsShape>} */
const groups = new Map()
collect(WORKFLOW)

/** @param {Shape} shape */
function collect(shape) {
  if (shape.kind === 'either') for (const one of shape.of) collect(one)
  if (shape.kind === 'fork') for (const one of [shape.otherwise, shape.matching]) collect(one)
  if (shape.kind === 'list' || shape.kind === 'named') collect(shape.of)
  if (shape.kind !== 'fields' || groups.has(shape.title)) return
  groups.set(shape.title, shape)
  for (const field of shape.fields) collect(field.shape)
}

/** @param {string} title */
function group(title) {
  const found = groups.get(title)
  if (found === undefined) throw new Error(`there are no fields called ${title}`)
  return found
}

// ── words ────────────────────────────────────────────────────────────────────────────────────────

/** @param {string} text */
const code = (text) => `\`${text}\``

/** @param {Shape} shape */
const isStep = (shape) => shape.kind === 'fork' || (shape.kind === 'fields' && shape.title.endsWith('step'))

/** What a field takes. @param {Shape} shape @returns {string} */
function takes(shape) {
  switch (shape.kind) {
    case 'text':
      return textWords(shape)
    case 'words':
      return shape.words.map(code).join(', ')
    case 'number':
      return numberWords(shape)
    case 'flag':
      return shape.only === undefined ? '`true`, `false`' : code(String(shape.only))
    case 'duration':
      return 'a duration'
    case 'data':
      return shape.reading === undefined ? 'any value' : 'any value; texts in it are templates'
    case 'empty':
      return 'nothing'
    case 'list':
      return isStep(shape.of) ? 'a list of steps' : `a list of ${plural(takes(shape.of))}`
    case 'named':
      return `by name: ${takes(shape.of)}`
    case 'fields':
      return 'fields'
    case 'fork':
      return 'fields'
    case 'either':
      return [...new Set(shape.of.map(takes))].join('; or ')
  }
}

/** @param {string} words */
const plural = (words) =>
  words.replace(/^a (template|duration|whole number)/, '$1s').replace('s, or a number', 's or numbers')

/** @param {import('../packages/workflow/src/document/shape.js').TextShape} shape */
function textWords({ reading, rule, isPlain }) {
  if (reading === 'template') return isPlain ? 'a template, or a number' : 'a template'
  if (reading === 'json_path') return 'a JSONPath'
  if (reading !== undefined) return reading === 'shell' ? 'shell text' : 'an expression'
  return rule === undefined || rule.said.length > 40 ? 'text' : rule.said.replace(/: .*/, '')
}

/** @param {import('../packages/workflow/src/document/shape.js').NumberShape} shape */
function numberWords({ isWhole, least, most, isAbove }) {
  const kind = isWhole ? 'a whole number' : 'a number'
  const from = least === undefined || least < 0 ? '' : isAbove ? `above ${least}` : `${least}`
  const to = most === undefined || most >= 1_000_000 ? '' : `${most}`
  if (from !== '' && to !== '') return `${kind}, ${from} to ${to}`
  return from === '' ? kind : `${kind}, ${from}${isAbove ? '' : ' or more'}`
}

/** @param {Field} field */
function example({ examples }) {
  if (examples === undefined || examples.length === 0) return ''
  const text = stringify(examples[0], { collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: false }).trim()
  return code(text)
}

/** @param {readonly string[]} head @param {readonly (readonly string[])[]} rows */
function table(head, rows) {
  const line = (/** @type {readonly string[]} */ cells) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

/** @param {readonly Field[]} fields */
function fieldTable(fields) {
  const rows = fields.map((field) => {
    const names = [field.name, ...(field.aliases ?? [])].map(code).join(', ')
    const fallback = field.isRequired ? '**required**' : (field.default ?? '')
    return [names, takes(field.shape), field.doc, fallback, example(field)]
  })
  return table(['Key', 'Takes', 'Meaning', 'Default', 'Example'], rows)
}

/** @param {string} title @param {(field: Field) => boolean} wanted */
const tableOf = (title, wanted = () => true) => fieldTable(group(title).fields.filter(wanted))

// ── the page ─────────────────────────────────────────────────────────────────────────────────────

const actions = group('step').oneOf ?? []
const isAction = (/** @type {Field} */ { name }) => actions.includes(name)

/** The parameters of backoffs, each once. */
const strategies = ['linear', 'exponential', 'custom'].flatMap((name) => group(`backoff ${name}`).fields)

const budgets = BUDGET_TYPES.map((type) => {
  const fields = group(`budget of type ${type}`).fields.filter(({ name }) => name !== 'type')
  return `### \`type: ${type}\`\n\n${kindOf(type).doc}${fields.length === 0 ? '' : `\n\n${fieldTable(fields)}`}`
})

const reserved = (VALUE_NAME.reserved ?? []).filter((name) => !/proto|constructor/.test(name)).map(code)

const reference = `# Workflow reference

<!-- Made from the tables of fields by \`node scripts/workflow-reference.mjs\`. Do not edit. -->

Every key that a workflow may have. \`reprise validate FILE\` checks a file; \`reprise schema\` prints the same as JSON
Schema, for completion in editors. A key that is not listed here is an error.

\`\`\`yaml
name: nightly-import
params: { day: } # must be given
env: { REGION: eu }
secrets: [API_TOKEN]
retry_defaults: { attempts: 3, backoff: exponential, jitter: true, retry_budget: 2m }
breakers: { warehouse: { failure_threshold: 3, recovery_timeout: 20s } }
budgets: { api: { type: adaptive } }

steps:
  - name: fetch
    shell: curl -fsS "https://example.com/items.json?day=\${day}"
    capture: items
    capture_format: json
    timeout: 30s
    retry: { attempts: 5, retry_on: [network, timeout, 5xx], budget: api }

  - id: load
    run: [psql, -f, load.sql]
    when: size(items) > 0
    retry: { breaker: warehouse }

  - name: tell people
    http:
      url: https://hooks.example.com/done
      headers: { Authorization: 'Bearer \${env.API_TOKEN}' }
      body: { text: 'loaded in run \${run.id}, exit code \${steps.load.exit_code}' }
    retry: { on_failure: continue }
\`\`\`

## The document

${tableOf('workflow')}

## A step

Exactly one of ${actions.map(code).join(', ')} says what it does.

${tableOf('step', isAction)}

Beside it:

${tableOf('step', (field) => !isAction(field))}

### \`http\`

${tableOf('http')}

\`expect\`:

${tableOf('expect')}

### \`script\`

${tableOf('script')}

### \`claude\`

${tableOf('claude')}

### \`write_file\`

${tableOf('write_file')}

### \`on_interrupt\`

${tableOf('on_interrupt')}

## A map

The same steps for every item of an input. Among the steps it is one of them, with an id of its own:

\`\`\`yaml
steps:
  - id: resize
    map:
      input: images.json
      max_parallel: 4
      agent_template:
        - shell: ./resize "\${item.path}"
      error_policy: { item_retry: { attempts: 3, jitter: full }, tolerate: 5% }

  - name: report
    shell: echo "\${steps.resize.succeeded} of \${steps.resize.total}"; cat "\${steps.resize.results_file}"
\`\`\`

${tableOf('map step')}

\`map\`:

${tableOf('map')}

Steps of \`agent_template\` and \`on_item_error\` have the fields of a step but for \`on_interrupt\`, which the map has, and but
for \`breaker\` and \`budget\` under \`retry\`: an item passes the gates that \`item_retry\` names before its steps run.

### \`input\`

A path; one reference such as \`\${orders}\`, for a value; a list; or fields:

${tableOf('input')}

### \`error_policy\`

\`item_retry\` has the fields of [\`retry\`](#retry-and-retry_defaults) but for \`on_failure\`. It does not take part in
\`retry_defaults\`: without it an item has one attempt.

${tableOf('error_policy')}

### \`mode: mapreduce\`

Another spelling: the steps of \`setup\`, then a map with the id \`map\`, then the steps of \`reduce\` and \`merge\`.

\`\`\`yaml
mode: mapreduce
map:
  input: { range: [1, 500] }
  agent_template:
    - shell: ./import "\${item}"
reduce:
  - shell: ./report "\${map.results_file}"
error_policy: { item_retry: 3 }
\`\`\`

${tableOf('mapreduce', ({ name }) => ['mode', 'setup', 'map', 'reduce', 'merge', 'error_policy'].includes(name))}

Beside these stand the other keys of [the document](#the-document) but for \`steps\`.

## \`retry\` and \`retry_defaults\`

A number is a number of attempts, \`false\` is one attempt. Fields are those of a [policy](policies.md), spelt in snake_case
or camelCase, and \`on_failure\`. A field comes from the step, else from \`retry_defaults\`, else it is the default here; a
step with neither is attempted once. \`backoff\` and \`breaker\` are taken whole.

${tableOf('retry')}

\`on_failure\` with fields:

${tableOf('on_failure')}

\`fallback\`:

${tableOf('fallback')}

### Backoff

A word; \`{exponential: {base: 3}}\`; or \`{type: exponential, base: 3}\`. [Choosing a backoff](choosing-a-backoff.md) has the
delays.

${fieldTable(strategies)}

### Matchers

\`retry_on\` lists words (the [reference](reference.md#matchers) says what each fits) and fields:

${tableOf('matcher')}

### A breaker of the step's own

${tableOf('breaker of a policy')}

## \`breakers\`

By name. A step takes part with \`retry: {breaker: NAME}\`.

${tableOf('breaker')}

## \`budgets\`

By name. A step takes part with \`retry: {budget: NAME}\`, or \`{name: NAME, cost: 2}\`. [Budgets](budgets.md) says which to
choose.

${budgets.join('\n\n')}

## References

Templates and shell text hold references. What they refer to must be known where they stand, or the file is refused.

${table(
  ['Reference', 'Is'],
  [
    ['`${NAME}`', 'a parameter, or what an earlier step captured; `${NAME.field}` a part of it'],
    ['`${env.NAME}`', 'a variable of the environment'],
    [STEP_VALUES.map((name) => code(`\${steps.ID.${name}}`)).join(' '), 'of an earlier step'],
    [
      MAP_VALUES.map((name) => code(`\${steps.ID.${name}}`)).join(' '),
      'of an earlier map; of one with the id `map` also `${map.total}` and the others',
    ],
    [
      '`${item}` `${item.field}` `${item.key}` `${item.index}` `${item_key}` `${item_index}`',
      'of the item, in the steps of a map; its key and its position are also known by names of their own',
    ],
    [RUN_VALUES.map((name) => code(`\${run.${name}}`)).join(' '), 'of this run'],
    [
      END_VALUES.map((name) => code(`\${run.${name}}`)).join(' '),
      'of this run, in `on_failure` and `finally`: how its steps ended, the step that failed, its error',
    ],
  ],
)}

In shell text a value is handed over through the environment, quoted, and never becomes part of the program; a name that
is none of these is the shell's own.

## Names

- An id has letters, digits, \`.\`, \`_\` and \`-\`, at most 128, a letter or digit first, and does not end in \`.fallback\`.
  Without one, a step's name is made fit (\`API call\` is \`API-call\`; a second one \`API-call-2\`); without a name it is
  \`step-3\`, by its position.
- Parameters and captures have letters, digits and \`_\`, no digit first. Taken: ${reserved.join(', ')}.

## Limits

A file has at most 1 MiB, ${MAX_DEPTH} levels, ${MAX_VALUES.toLocaleString('en').replaceAll(',', ' ')} values and ${MAX_ALIASES} aliases, in UTF-8. It is YAML 1.2: \`no\` is text, \`0644\` is 644, and merge
keys (\`<<\`) are refused. Numbers lie between −2^53 and 2^53; durations, from \`0ms\` to \`365d\`, have a unit. Where text is
wanted, a number is taken as it is written, and refused if it would change: \`1.10\` needs quotes.
`

if (!process.argv.includes('--check')) {
  writeFileSync(page, reference)
} else if (readFileSync(page, 'utf8') !== reference) {
  console.error(`${fileURLToPath(page)} is not what the tables say: run \`node scripts/workflow-reference.mjs\``)
  process.exitCode = 1
}
