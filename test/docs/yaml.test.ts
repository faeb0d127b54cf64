/** Every YAML that is shown or comes along is right for those who read it, and for the schema that editors use. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { InputError, policySchema, workflowSchema } from '@reprise/workflow'
import {
  isWorkflow,
  parseSource,
  readBudgetSection,
  readersFor,
  readPolicies,
  type Source,
} from '@reprise/workflow/internal'
import { expect, test } from 'vitest'
import { faultsOf } from '../json-schema.js'
import { documentedFences, packageFences, ROOT } from './fences.js'

const fences = [...documentedFences(), ...packageFences()].filter(({ language }) => /^ya?ml$/.test(language))
const shown = fences.map(({ place, code, flags }) => ({ place, code, flag: flags[0] ?? '' }))
const examples = readdirSync(path.join(ROOT, 'examples'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.ya?ml$/.test(name))
  .map((name) => ({ place: `examples/${name}`, code: readFileSync(path.join(ROOT, 'examples', name), 'utf8') }))
  // Files of jobs have a check and a schema of their own; the example is run by test/examples.
  .filter(({ code }) => !/^mode: job$/m.test(code))

/** A fence may show several. */
const documentsIn = (code: string): string[] =>
  code
    .split(/^---$/m)
    .filter((text) => text.trim() !== '')
    // A list is of steps.
    .map((text) => (text.trimStart().startsWith('- ') ? `steps:\n${text}` : text))

async function check(source: Source): Promise<void> {
  readPolicies(source, await readersFor(source))
  readBudgetSection(source)
}

const schemaFaults = (source: Source): string[] =>
  faultsOf(isWorkflow(source) ? workflowSchema() : policySchema(), source.value)

test.each([...shown.filter(({ flag }) => flag === ''), ...examples])('$place is right', async ({ code, place }) => {
  for (const text of documentsIn(code)) {
    const source = parseSource(place, text)
    await check(source)
    expect(schemaFaults(source)).toEqual([])
  }
})

test.each(shown.filter(({ flag }) => flag === 'invalid'))('$place is refused, as it says', async ({ code, place }) => {
  const source = parseSource(place, code)
  await expect(check(source)).rejects.toThrow(InputError)
  expect(schemaFaults(source)).not.toEqual([])
})

test('there are some of each', () => {
  expect(examples).not.toEqual([])
  expect(shown.filter(({ flag }) => flag === 'invalid')).not.toEqual([])
})
