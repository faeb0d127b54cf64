/** The check with positions and the schema for editors say the same of every document: both come of one table. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readBudgetSection } from '../../packages/workflow/src/document/budget-section.js'
import { checkDocument } from '../../packages/workflow/src/document/check-document.js'
import { WORKFLOW } from '../../packages/workflow/src/document/fields-document.js'
import { POLICY_FILE } from '../../packages/workflow/src/document/fields-policy-file.js'
import { PHASE } from '../../packages/workflow/src/document/fields-map.js'
import { Findings } from '../../packages/workflow/src/document/findings.js'
import { policySchema, workflowSchema } from '../../packages/workflow/src/document/json-schema.js'
import { readPolicyFile } from '../../packages/workflow/src/document/policy-file.js'
import { InputError, type Problem, readTogether } from '../../packages/workflow/src/document/problem.js'
import { field, type FieldsShape, list } from '../../packages/workflow/src/document/shape.js'
import { parseSource, type Source, sourceOfData } from '../../packages/workflow/src/document/source.js'
import { faultsOf } from '../json-schema.js'
import { documentOf } from './document-chance.js'

const RUNS = 150
/** The machine may be busy. */
const PATIENCE_MS = 60_000

function workflowProblems(source: Source): readonly Problem[] {
  const findings = new Findings(source)
  checkDocument(findings)
  return findings.problems
}

function policyProblems(source: Source): readonly Problem[] {
  try {
    readTogether(
      () => readPolicyFile(source),
      () => readBudgetSection(source),
    )
    return []
  } catch (error) {
    if (error instanceof InputError) return error.problems
    throw error
  }
}

const messagesOf = (problems: readonly Problem[]): string[] =>
  problems.map(({ path, message }) => `${path ?? ''}: ${message}`)

/** Nothing but maps among the steps. */
const WITH_MAPS: FieldsShape = {
  kind: 'fields',
  title: 'workflow',
  example: '',
  fields: [field('steps', list(PHASE.matching, 1, { most: 2 }), '', { isRequired: true })],
}

test.each([
  // These have many values.
  ['workflow', WORKFLOW, workflowSchema(), workflowProblems, 150],
  ['map/reduce', WORKFLOW.matching, workflowSchema(), workflowProblems, 150],
  ['workflow with maps', WITH_MAPS, workflowSchema(), workflowProblems, 150],
  ['policy', POLICY_FILE, policySchema(), policyProblems, 40],
] as const)(
  'a %s is right for the check where it is right for the schema, and nowhere else',
  (_, shape, schema, check, faultIn) => {
    const seen = { right: 0, wrong: 0 }
    fc.assert(
      fc.property(documentOf(shape, faultIn), (document) => {
        const problems = messagesOf(check(parseSource('f', JSON.stringify(document))))
        const faults = faultsOf(schema, document)
        seen[faults.length === 0 ? 'right' : 'wrong']++
        expect({ isRight: problems.length === 0, problems, faults }).toMatchObject({ isRight: faults.length === 0 })
      }),
      { numRuns: RUNS },
    )
    // Else it would say nothing.
    expect(Math.min(seen.right, seen.wrong)).toBeGreaterThan(RUNS / 20)
  },
  PATIENCE_MS,
)

test.each(['a\nb', 'a\u0000', '\ud800', 'x'.repeat(201)])('the budget %j is wrong for both', (budget) => {
  expect(messagesOf(policyProblems(parseSource('f', JSON.stringify({ budget }))))).toHaveLength(1)
  expect(faultsOf(policySchema(), { budget }).length).toBeGreaterThan(0)
})

test('a document without lines is judged as the one it was read from', () => {
  fc.assert(
    fc.property(documentOf(WORKFLOW, 15), (document) => {
      const read = messagesOf(workflowProblems(parseSource('f', JSON.stringify(document))))
      const recorded = messagesOf(workflowProblems(sourceOfData('f', JSON.parse(JSON.stringify(document)))))
      expect(recorded).toEqual(read)
    }),
  )
})

test('whatever stands in a file, the check ends with problems at its places', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (document) => {
      const problems = workflowProblems(parseSource('f', JSON.stringify(document)))
      for (const { line = 0, column = 0 } of problems) expect(Math.min(line, column)).toBeGreaterThan(0)
    }),
  )
})
