import { expect, test } from 'vitest'
import { MATCHER_WORDS as LIBRARY_WORDS } from '../../../reprise/src/core/policy.js'
import { shapeCheck } from './check-document.js'
import { WORKFLOW } from './fields-document.js'
import { POLICY_FILE } from './fields-policy-file.js'
import { MATCHER_WORDS, POLICY, STEP_POLICY_FIELDS } from './fields-policy.js'
import { Findings } from './findings.js'
import { nameInFiles, POLICY_FIELDS } from './policy-fields.js'
import type { FieldsShape, Shape } from './shape.js'
import { sourceOfData } from './source.js'
import { wholeOf } from './located.js'

/** Every group of fields within a shape, each once. */
function groupsIn(shape: Shape, found = new Set<FieldsShape>()): ReadonlySet<FieldsShape> {
  if (shape.kind === 'either') for (const one of shape.of) groupsIn(one, found)
  if (shape.kind === 'fork') for (const one of [shape.matching, shape.otherwise]) groupsIn(one, found)
  if (shape.kind === 'list' || shape.kind === 'named') groupsIn(shape.of, found)
  if (shape.kind === 'fields' && !found.has(shape)) {
    found.add(shape)
    for (const field of shape.fields) groupsIn(field.shape, found)
  }
  return found
}

const groups = [...groupsIn(WORKFLOW)]

test('a file has every field of the table but for what only code can have', () => {
  const names = POLICY_FIELDS.filter(({ name, code }) => !name.includes('.') && code === undefined)
  expect(POLICY.fields.map(({ name }) => name)).toEqual(names.map(nameInFiles))
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

test('groups of fields have names of their own', () => {
  for (const root of [WORKFLOW, POLICY_FILE]) {
    const titles = [...groupsIn(root)].map(({ title }) => title)
    expect(titles).toEqual([...new Set(titles)])
  }
})
