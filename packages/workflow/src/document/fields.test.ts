import { normalizePolicy } from 'reprise'
import { expect, test } from 'vitest'
import { POLICY_FIELDS } from '../../../reprise/src/core/policy-fields.js'
import { MATCHER_WORDS as LIBRARY_WORDS } from '../../../reprise/src/core/policy.js'
import { shapeCheck } from './check-document.js'
import { WORKFLOW } from './fields-document.js'
import { POLICY_FILE } from './fields-policy-file.js'
import { MATCHER_WORDS, POLICY, STEP_POLICY_FIELDS } from './fields-policy.js'
import { Findings } from './findings.js'
import type { Field, FieldsShape, Shape } from './shape.js'
import { sourceOfData } from './source.js'
import { wholeOf } from './spot.js'

/** Every group of fields within a shape, each once. */
function groupsIn(shape: Shape, found = new Set<FieldsShape>()): ReadonlySet<FieldsShape> {
  if (shape.kind === 'either') for (const one of shape.of) groupsIn(one, found)
  if (shape.kind === 'list' || shape.kind === 'named') groupsIn(shape.of, found)
  if (shape.kind === 'fields' && !found.has(shape)) {
    found.add(shape)
    for (const field of shape.fields) groupsIn(field.shape, found)
  }
  return found
}

const groups = [...groupsIn(WORKFLOW)]

/** The names of the fields, with those of the parts: `backoff.base`. */
function namesIn(shape: FieldsShape): Set<string> {
  const inner = (field: Field): string[] =>
    [...groupsIn(field.shape)]
      .flatMap(({ fields }) => fields)
      .filter(({ name }) => !['type', 'fixed', 'linear', 'exponential', 'fibonacci', 'custom'].includes(name))
      .map(({ name }) => `${field.name}.${name}`)
  return new Set(shape.fields.flatMap((field) => [field.name, ...inner(field)]))
}

test('the table has every field of a policy that the library lists, and no other', () => {
  const listed = new Set(POLICY_FIELDS.map(({ yaml }) => yaml))
  const beyond = ['retry_on.pattern', 'retry_on.exit_code', 'hedge.budget', 'hedge.name', 'hedge.cost', 'hedge.share']
  expect([...namesIn(POLICY)].filter((name) => !beyond.includes(name)).toSorted()).toEqual(
    [...listed].filter((name) => !beyond.includes(name)).toSorted(),
  )
})

test('defaults are those of the library', () => {
  const plain = (text: string | undefined): string => (text ?? 'none').replaceAll('`', '').replace(/;.*/, '')
  for (const { yaml, default: listed } of POLICY_FIELDS) {
    const field = POLICY.fields.find(({ name }) => name === yaml)
    if (field !== undefined) expect([yaml, plain(field.default)]).toEqual([yaml, plain(listed)])
  }
})

test('a step has the fields of a policy but for the hedge', () => {
  const names = POLICY.fields.map(({ name }) => name).filter((name) => name !== 'hedge')
  expect(STEP_POLICY_FIELDS.map(({ name }) => name)).toEqual(names)
})

test('the words of matchers are those of the library', () => {
  expect(MATCHER_WORDS.filter((word) => word !== '5xx')).toEqual(LIBRARY_WORDS)
})

const table = groups.flatMap((group) =>
  group.fields.map((field) => ({ group, field, place: `${group.title}: ${field.name}` })),
)

test.each(table)('$place has a sentence, and an example unless it need not', ({ field }) => {
  expect(field.doc).toMatch(/^[A-Z].*\.$/s)
  if (field.isRequired !== true && field.shape.kind !== 'fields') expect(field.examples).not.toBeUndefined()
})

const examples = table.flatMap(({ field, group, place }) =>
  (field.examples ?? []).map((example) => ({ place, example, field, isPolicy: group.checkedBy === 'library' })),
)

test.each(examples.filter(({ isPolicy }) => !isPolicy))('$place: $example is right', ({ example, field }) => {
  const findings = new Findings(sourceOfData('example', example))
  shapeCheck(findings).check(wholeOf(findings.source), field.shape)
  expect(findings.problems).toEqual([])
})

test.each(POLICY.fields.flatMap(({ name, examples: all = [] }) => all.map((example) => ({ name, example }))))(
  'policy: $name: $example is right',
  ({ name, example }) => {
    expect(() => normalizePolicy({ [name]: example }, { needsUnits: true })).not.toThrow()
  },
)

test('groups of fields have names of their own', () => {
  for (const root of [WORKFLOW, POLICY_FILE]) {
    const titles = [...groupsIn(root)].map(({ title }) => title)
    expect(titles).toEqual([...new Set(titles)])
  }
})
