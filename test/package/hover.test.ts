/**
 * What editors show over a public name: a sentence on everything, the default of every option, an example of every
 * function, method and option. Examples compile. Read from the emitted declarations: needs a build.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { adaptiveBudget, normalizePolicy, perKey, ratioBudget, tokenBucket, unlimited } from 'reprise'
import { wellKnown } from 'reprise/simulate'
import { expect, test } from 'vitest'
import { retentionOf } from '../../packages/reprise/src/durable/retention.js'
import { readScenario } from '../../packages/reprise/src/simulate/scenario.js'
import { parseDoc, type Shown, shownNames } from '../../scripts/hover.mjs'
import { examplePrograms } from './hover-examples.js'
import { root } from './packed.js'

const all = shownNames()
const place = ({ file, type, member }: Shown): string => `${file}: ${type}${member === '' ? '' : `.${member}`}`

/** Names that need no text, each with the reason. */
const NEEDS_NO_TEXT: ReadonlyArray<readonly [reason: string, is: (shown: Shown) => boolean]> = [
  ['the one value that the property can have says what it means', ({ isDiscriminant }) => isDiscriminant],
  [
    'programs catch errors of the library and do not make them',
    ({ isError, member }) => isError && /^constructor\b/.test(member),
  ],
  ['the name of an error is the name of its class', ({ isError, member }) => isError && member === 'name'],
  ['a code is described at its class', ({ type, member }) => type === 'ErrorByCode' && member !== ''],
  ['the kinds of backoff are described at the type', ({ type, member }) => type === 'BackoffInput' && member !== ''],
  [
    'a snapshot of a budget is for that budget alone',
    ({ file, type }) => file.includes('/budgets/') && type.endsWith('State'),
  ],
  ['the refusals of a resume are shown with kind and message alone', ({ type }) => type === 'Difference'],
  ['the module @opentelemetry/api documents its own members', isOpenTelemetry],
  [
    'the compiler prints it in an error; no program reads it',
    ({ type, member }) => type === 'Recordable' && member !== '',
  ],
]

/** Types with properties that may be absent, and have no default: rows, events and outcomes are read. */
const RECORDS = [
  'TaskRecord',
  'TaskProgress',
  'CurrentAttempt',
  'FailureRecord',
  'OwnerRecord',
  'DeadLetter',
  'EventBase',
  'RepriseEvent',
  'AttemptOutcome',
]

function isOpenTelemetry({ type, member }: Shown): boolean {
  return (type === 'OpenTelemetryApi' && member !== '') || /^Otel(?!Options$)/.test(type)
}

/** Of types that an entry only refers to, the members: programs reach them through values. */
const isPublic = ({ isExported, member }: Shown): boolean => isExported || member !== ''
const isRecord = ({ type }: Shown): boolean => RECORDS.includes(type)
const isCalled = ({ kind }: Shown): boolean => kind === 'function' || kind === 'method'
const shown = all.filter(isPublic)
const options = shown.filter((one) => one.isOption && !isRecord(one) && !isOpenTelemetry(one) && !one.isError)

function without(what: (one: Shown) => unknown, among: readonly Shown[]): string[] {
  return [...new Set(among.filter((one) => !what(one)).map(place))].toSorted()
}

test('everything that an entry exports says what it is', () => {
  const silent = shown.filter((one) => NEEDS_NO_TEXT.every(([, is]) => !is(one)))
  expect(without(({ doc }) => doc?.text, silent)).toEqual([])
})

test('every option that may be left out says what it is then', () => {
  expect(options.length).toBeGreaterThan(100)
  expect(without(({ doc }) => doc?.default, options)).toEqual([])
})

test('every function, method and option has an example', () => {
  const called = shown.filter(
    (one) => isCalled(one) && !isOpenTelemetry(one) && !(one.isError && one.kind === 'method'),
  )
  expect(called.length).toBeGreaterThan(150)
  expect(without(({ doc }) => doc?.examples[0], [...called, ...options])).toEqual([])
})

test('every allowance is needed', () => {
  const unused = NEEDS_NO_TEXT.filter(([, is]) => !shown.some((one) => is(one) && !one.doc?.text))
  expect(unused.map(([reason]) => reason)).toEqual([])
  expect(RECORDS.filter((name) => !shown.some(({ type, isOption }) => type === name && isOption))).toEqual([])
})

test('all examples compile', () => {
  const directory = path.join(root, 'test/package/.hover-examples')
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory)
  for (const [name, text] of examplePrograms(all)) writeFileSync(path.join(directory, name), text)
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc')
  const args = [tsc, '-p', 'test/package/tsconfig.hover.json']
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
  expect(status, stdout + stderr).toBe(0)
})

test('a comment is text, a default and examples, on one line or on several', () => {
  const one = '/** Sent to `@scope/name`. See a@b. @default none @example { limit: 20 } */'
  expect(parseDoc(one)).toEqual({
    text: 'Sent to `@scope/name`. See a@b.',
    default: 'none',
    examples: ['{ limit: 20 }'],
  })
  const several = '/**\n   * First.\n   * Second.\n   * @example\n   * a({\n   *   b: 1,\n   * })\n   */'
  expect(parseDoc(several)).toEqual({ text: 'First.\nSecond.', default: undefined, examples: ['a({\n  b: 1,\n})'] })
})

/** The defaults of a type that are values, as its comments have them. */
function defaultsOf(type: string): Record<string, unknown> {
  const given = options.filter((one) => one.type === type && !one.member.includes('.'))
  const values = given.map(({ member, doc }) => [member, valueOf(doc?.default ?? '')] as const)
  return Object.fromEntries(values.filter(([, value]) => value !== undefined))
}

function valueOf(text: string): unknown {
  if (/^'[^']*'$/.test(text)) return text.slice(1, -1)
  if (/^[\d_.]+$/.test(text)) return Number(text.replaceAll('_', ''))
  return text === 'true' ? true : text === 'false' ? false : undefined
}

/** What comes of options, by the type of the options. The fields that an object must have come from here. */
const MADE_FROM: Readonly<Record<string, (defaults: object) => unknown>> = {
  RatioBudgetOptions: (defaults) => ratioBudget(defaults).describe(),
  AdaptiveBudgetOptions: (defaults) => adaptiveBudget(defaults).describe(),
  TokenBucketOptions: (defaults) => tokenBucket({ capacity: 1, refillPerSecond: 1, ...defaults }).describe(),
  PerKeyOptions: (defaults) => perKey(unlimited, defaults).describe(),
  NormalizeOptions: (defaults) => normalizePolicy({ attempts: 4 }, defaults).policy,
  RetentionInput: retentionOf,
  ScenarioInput: readScenario,
  Limits: (defaults) => wellKnown(defaults).map(({ policy }) => policy),
}

test.each(Object.entries(MADE_FROM))('%s with the defaults that are documented is %s without any', (type, make) => {
  const defaults = defaultsOf(type)
  expect(Object.keys(defaults)).not.toEqual([])
  expect(make(defaults)).toEqual(make({}))
})

test.each([
  ['DurableOptions', 'packages/reprise/src/open/open-durable.ts'],
  ['PatternFilter', 'packages/reprise/src/ledger/analytics.ts'],
  ['MetricsOptions', 'packages/reprise/src/observe/metrics.ts'],
  ['AdaptiveBudgetOptions', 'packages/reprise/src/core/budgets/adaptive.ts'],
])('the defaults of %s stand in %s', (type, file) => {
  const source = readFileSync(path.join(root, file), 'utf8').replaceAll(/\/\*\*.*?\*\//gs, '')
  const stated = Object.values(defaultsOf(type)).filter((value) => typeof value !== 'boolean')
  const literals = new Set(source.match(/(?<=[=:] ?)('[^']*'|[\d_]+)/g)?.map(valueOf))
  expect(stated.filter((value) => !literals.has(value))).toEqual([])
})
