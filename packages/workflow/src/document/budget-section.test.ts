import { adaptiveBudget, type Budget } from 'reprise'
import { expect, test } from 'vitest'
import { InputError, type Problem, readTogether } from './problem.js'
import { type BudgetDefinitions, readBudgetFlag, readBudgetSection } from './budget-section.js'
import { BUDGET_TYPES, examplesOf, kindOf } from './budget-types.js'
import { readPolicyFile } from './policy-file.js'
import { parseSource } from './source.js'

const read = (text: string): BudgetDefinitions => readBudgetSection(parseSource('f.yaml', text))

function problemsOf(work: () => unknown): readonly Problem[] {
  try {
    work()
  } catch (error) {
    if (error instanceof InputError) return error.problems
    throw error
  }
  return []
}

const ask = (budget: Budget, attempt: number): boolean =>
  budget.allowAttempt({
    ...{ key: '', attempt, launch: attempt, kind: 'retry', ref: { name: '', cost: 1 } },
    ...{ now: 0, deadlineMs: Infinity },
  }).allowed

// ── what is read ─────────────────────────────────────────────────────────────────────────────────

test('a file without the section defines no budgets', () => {
  expect(read('attempts: 3').size).toBe(0)
})

test('options are spelt as in a policy, in snake_case or camelCase', () => {
  for (const text of ['refill_per_second: 0', 'refillPerSecond: 0']) {
    const definition = read(`budgets: {api: {type: token_bucket, capacity: 1, ${text}}}`).get('api')
    expect(definition).toMatchObject({ type: 'token_bucket', options: { capacity: 1, refillPerSecond: 0 } })
  }
})

test('every budget that is made is a new one', () => {
  const definition = read('budgets: {b: {type: count, total: 1}}').get('b')
  const [one, other] = [definition?.make(), definition?.make()]
  expect([one && ask(one, 2), one && ask(one, 2), other && ask(other, 2)]).toEqual([true, false, true])
})

test.each(BUDGET_TYPES)('%s can be made with each of its options, and with those it needs alone', (type) => {
  const { make, required } = kindOf(type)
  const examples = examplesOf(type)
  const needed = Object.fromEntries(required.map((name) => [name, examples[name]]))
  expect(ask(make(examples), 1)).toBe(true)
  expect(ask(make(needed), 1)).toBe(true)
  for (const [name, value] of Object.entries(examples)) make({ ...needed, [name]: value })
})

test('a name is taken without the spaces around it, as a policy names it', () => {
  expect([...read('budgets: {" api ": {type: unlimited}}').keys()]).toEqual(['api'])
})

test('keys of prototypes are names like any other', () => {
  const definitions = read('budgets: {__proto__: {type: unlimited}, constructor: {type: unlimited}}')
  expect([...definitions.keys()]).toEqual(['__proto__', 'constructor'])
  expect(problemsOf(() => read('budgets: {a: {type: ratio, constructor: 1}}'))).toHaveLength(1)
})

test('a flag gives a type, or a type with options', () => {
  expect(readBudgetFlag('--budget', 'adaptive').make()).toBeInstanceOf(adaptiveBudget().constructor)
  expect(readBudgetFlag('--budget', '{type: count, total: 3}').options).toEqual({ total: 3 })
})

// ── what is refused ──────────────────────────────────────────────────────────────────────────────

test.each([
  ['budgets: 5', 'budgets', 'needs budgets by name'],
  ['budgets: [a]', 'budgets', 'needs budgets by name'],
  ['budgets: {a: adaptive}', 'budgets.a', 'needs fields, with a `type`'],
  ['budgets: {a: }', 'budgets.a', 'needs fields, with a `type`'],
  ['budgets: {a: {max: 1}}', 'budgets.a', 'needs a `type`'],
  ['budgets: {a: {type: 5}}', 'budgets.a.type', '5 is not one of unlimited, token_bucket'],
  ['budgets: {a: {type: [ratio]}}', 'budgets.a.type', 'this is not one of'],
  ['budgets: {a: {type: count}}', 'budgets.a', 'count needs `total`'],
  ['budgets: {a: {type: token_bucket}}', 'budgets.a', 'token_bucket needs `capacity` and `refill_per_second`'],
  ['budgets: {a: {type: concurrency, max: 0}}', 'budgets.a.max', '0 is not a whole number of 1 or more'],
  ['budgets: {a: {type: adaptive, strict: 1}}', 'budgets.a.strict', '1 is not true or false'],
  [
    'budgets: {a: {type: adaptive, max_park: 30}}',
    'budgets.a.max_park',
    "30 is not a duration from 0ms to 365d such as '30s'",
  ],
  ['budgets: {a: {type: ratio, window: 0s}}', 'budgets.a.window', '"0s" is not a duration above 0ms'],
  ['budgets: {a: {type: ratio, ratio: .nan}}', 'budgets.a.ratio', 'NaN is not a finite number'],
  ['budgets: {" ": {type: unlimited}}', 'budgets. ', 'needs a name'],
  ['budgets: {a: {type: unlimited}, " a": {type: unlimited}}', 'budgets. a', 'this name stands here twice'],
  ['budgets: {a: {type: count, total: 1, per_key: 1, perKey: 1}}', 'budgets.a.perKey', 'given in both spellings'],
])('%s is refused', (text, path, message) => {
  expect(problemsOf(() => read(text))).toMatchObject([{ path, message: expect.stringContaining(message) }])
})

test.each([
  ['budgets: {a: {type: adaptiv}}', 'did you mean `adaptive`?'],
  ['budgets: {a: {type: tokenBucket}}', 'did you mean `token_bucket`?'],
  ['budgets: {a: {type: adaptive, max_prked: 5}}', 'did you mean `max_parked`?'],
  ['budgets: {a: {type: adaptive, maxPrked: 5}}', 'did you mean `maxParked`?'],
  ['budgets: {a: adaptive}', 'write `{type: adaptive}`'],
  ['budgets: {a: {type: count}}', 'such as `{type: count, total: 20}`'],
])('%s: the cure is said', (text, suggestion) => {
  expect(problemsOf(() => read(text))).toMatchObject([{ suggestion }])
})

test('every problem of policy and budgets is told at once, each at its place', () => {
  const text =
    'attempts: 0\nbudgets:\n  a: {type: adaptiv}\n  b: {type: ratio, ratio: -1, widow: 1s}\nbudget: {nme: a}\n'
  const source = parseSource('f.yaml', text)
  const problems = problemsOf(() =>
    readTogether(
      () => readPolicyFile(source),
      () => readBudgetSection(source),
    ),
  )
  const pointedAt = problems.map(({ line = 0, column = 0 }) =>
    text.split('\n')[line - 1]?.slice(column - 1, column + 4),
  )
  expect(pointedAt).toEqual(['0', 'adapt', '-1, w', 'widow', 'budge', 'nme: '])
})

test('a flag has no lines, but says which of its options is wrong', () => {
  expect(problemsOf(() => readBudgetFlag('--budget', 'adaptve'))).toEqual([
    { message: expect.stringMatching(/^--budget: "adaptve" is not one of/), suggestion: 'did you mean `adaptive`?' },
  ])
  expect(problemsOf(() => readBudgetFlag('--budget', '{type: count, total: x}'))).toEqual([
    { message: '--budget total: "x" is not a whole number of 0 or more such as 20' },
  ])
  expect(problemsOf(() => readBudgetFlag('--budget', '{type: count'))[0]?.message).toMatch(
    /^--budget: a `{` is not closed/,
  )
})

// ── beside the policy ────────────────────────────────────────────────────────────────────────────

test('beside the fields of a policy the section is none of them, and said to be unread by who does not read it', () => {
  const { policy, unread } = readPolicyFile(parseSource('f', 'attempts: 7\nbudget: a\nbudgets: {a: {type: ratio}}'))
  expect(policy).toMatchObject({ attempts: 7, budget: { name: 'a' } })
  expect(unread).toEqual(['budgets'])
})
