/**
 * Writes what editors show over the fields of a policy into its types, from the table of policy fields:
 * `node scripts/hover-docs.mjs`; with `--check` it writes nothing and fails if the types do not say what the table says.
 *
 * A field that is in the types and not in the table, or the other way round, is an error.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'rolldown/parseAst'
import { camelCase, exampleOf, lastPart, literal, meaningOf, POLICY_FIELDS } from './field-words.mjs'

/** @typedef {import('./field-words.mjs').PolicyField} PolicyField */
/** @typedef {Record<string, any>} Node what parseAst gives, walked by shape */

const WIDTH = 120
const file = new URL('../packages/reprise/src/core/policy.ts', import.meta.url)

/** The types whose fields the table describes, with what comes before the names of these fields there. */
const TYPES = {
  PolicyInput: '',
  LinearParameters: 'backoff.',
  ExponentialParameters: 'backoff.',
  DelayList: 'backoff.',
  DelayFormula: 'backoff.',
  MatcherInput: 'retryOn.',
  BudgetRefFields: 'budget.',
  BreakerInput: 'breaker.',
  HedgeInput: 'hedge.',
  HedgeBudgetFields: 'hedge.budget.',
}

const text = readFileSync(file, 'utf8')

/** The properties and methods of a type, not those of types within them. @param {unknown} value @returns {Node[]} */
function membersIn(value) {
  if (typeof value !== 'object' || value === null) return []
  const node = /** @type {Node} */ (value)
  if (/^TS(Property|Method)Signature$/.test(node['type'])) return [node]
  return Object.values(node).flatMap(membersIn)
}

/** @type {Map<string, Node>} */
const declarations = new Map(
  /** @type {Node} */ (parseAst(text, { lang: 'ts' })).body.map((/** @type {Node} */ statement) => {
    const node = statement['declaration'] ?? statement
    return [node['id']?.name, node]
  }),
)

/** @param {string} line @param {number} width */
function wrap(line, width) {
  /** @type {string[]} */
  const lines = ['']
  for (const word of line.split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last !== '' && last.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines
}

/** On one line if it fits. @param {PolicyField} field @param {string} indent */
function docOf(field, indent) {
  const { default: value, absent } = field
  const words = field.absentInCode ?? (value === undefined ? absent : literal(value))
  const tags = [...(words === undefined ? [] : [`@default ${words}`]), `@example { ${exampleOf(field)} }`]
  const line = `/** ${[meaningOf(field), ...tags].join(' ')} */`
  if (indent.length + line.length <= WIDTH) return line
  const lines = [...wrap(meaningOf(field), WIDTH - indent.length - ' * '.length), ...tags]
  return `/**\n${lines.map((one) => `${indent} * ${one}\n`).join('')}${indent} */`
}

const used = new Set()
/** @type {{ from: number, to: number, doc: string }[]} */
const edits = []
for (const [type, prefix] of Object.entries(TYPES)) {
  for (const { key, start } of membersIn(declarations.get(type))) {
    const name = prefix + camelCase(key.name)
    const field = POLICY_FIELDS.find((one) => one.name === name)
    if (field === undefined) throw new Error(`${type} has ${key.name}, and the table of policy fields has no ${name}`)
    used.add(name)
    const indent = /** @type {RegExpExecArray} */ (/[ ]*$/.exec(text.slice(0, start)))[0]
    const before = text.slice(0, start).trimEnd()
    const from = before.endsWith('*/') ? before.lastIndexOf('/**') : start
    edits.push({ from, to: start, doc: `${docOf(field, indent)}\n${indent}` })
  }
}
const missing = POLICY_FIELDS.filter(({ name }) => !used.has(name)).map(({ name }) => lastPart(name))
if (missing.length > 0) throw new Error(`no type of a policy has ${missing.join(', ')}`)

let documented = text
for (const { from, to, doc } of edits.toSorted((a, b) => b.from - a.from)) {
  documented = documented.slice(0, from) + doc + documented.slice(to)
}

if (!process.argv.includes('--check')) {
  writeFileSync(file, documented)
} else if (documented !== text) {
  console.error(
    `${fileURLToPath(file)} is not what the table of policy fields says: run \`node scripts/hover-docs.mjs\``,
  )
  process.exitCode = 1
}
