import { expect, test } from 'vitest'
import { InputError, type Problem } from '../document/problem.js'
import { parseSource } from '../document/source.js'
import { planOf } from './plan-of.js'
import type { Readers, References } from './readers.js'

/** References as `${name}`; of an expression every dotted name. */
function find(text: string, pattern: RegExp): References {
  const names = [...text.matchAll(pattern)].map((match) => match[1] ?? '')
  return text.includes('${}') ? { names, problem: { message: 'an empty reference', offset: 0 } } : { names }
}
const IN_TEXT = /\$\{([^}]*)\}/g
const READERS: Readers = {
  template: { referencesIn: (text) => find(text, IN_TEXT) },
  // Every plain `${name}` counts as one that the text does not set.
  shell: { referencesIn: (text) => ({ ...find(text, IN_TEXT), unset: find(text, /\$\{(\w+)\}/g).names }) },
  checkExpression: (text) => ({
    ...find(text, /([A-Za-z_][\w.[\]"-]*)/g),
    numeric: find(text, /([A-Za-z_][\w.]*) > \d/g).names,
  }),
  checkValue: (text) => find(text, /([A-Za-z_][\w.[\]"-]*)/g),
  jsonPath: () => null,
}

function problemsOf(text: string): readonly Problem[] {
  try {
    planOf(parseSource('f.yaml', text), READERS)
    return []
  } catch (error) {
    if (error instanceof InputError) return error.problems
    throw error
  }
}

/** Two steps before it, one after it, and a parameter. */
const around = (step: string): string => `
params: {region: eu, day: }
env: {LOG: 'logs/\${region}'}
steps:
  - {id: fetch, shell: x, capture: items}
  - {id: a.b-c, shell: x}
  - ${step}
  - {id: last, shell: x, capture: report}
`

test.each([
  '{run: [x, "${region}", "${items}", "${items.count}", "${items[0].id}"]}',
  '{run: [x, "${env.HOME}", "${run.id}", "${run.name}"]}',
  '{run: [x, "${steps.fetch.exit_code}", "${steps.fetch.output.x}", "${steps.a.b-c.status}", "${steps.fetch.attempts}"]}',
  `{http: {url: 'http://\${region}', headers: {A: '\${items}'}, body: {a: ['\${day}']}}}`,
  `{script: {module: './x.mjs', with: {a: {b: '\${region}'}}}}`,
  `{claude: 'look at \${items}'}`,
  `{write_file: {path: '\${region}', content: '\${items}'}}`,
  `{shell: x, working_dir: '\${region}', env: {A: '\${items}'}}`,
  '{shell: x, when: region == items.count}',
  '{id: me, shell: x, capture: own, until: own == region && steps.me.attempts}',
  '{shell: x, when: \'steps["a.b-c"].exit_code\'}',
  // In shell text what we do not know is the shell's.
  '{shell: "echo ${HOME} ${x[0]} ${unlike}"}',
  // Variables of the environment, although they are near to `items` and `region`.
  '{shell: "echo ${itms} ${REGIONS} ${LOGS}", env: {itms: x}}',
])('%s refers to what is known there', (step) => {
  expect(problemsOf(around(step))).toEqual([])
})

test.each([
  [
    '{run: [x, "${regoin}"]}',
    '`regoin` is unknown: no parameter and no earlier step has this name',
    'did you mean `region`?',
  ],
  ['{run: [x, "${zzzzzz}"]}', '`zzzzzz` is unknown', 'declare it under `params:`'],
  ['{run: [x, "${report}"]}', '`report` is captured by step last, which has not run then', 'earlier step'],
  ['{run: [x, "${steps.last.output}"]}', 'step last has not run then', 'earlier step'],
  ['{run: [x, "${steps.fetsh.output}"]}', 'no step has this id', 'did you mean `steps.fetch`?'],
  [
    '{run: [x, "${steps.fetch.exitcode}"]}',
    '`steps.fetch.exitcode` is unknown',
    'did you mean `steps.fetch.exit_code`?',
  ],
  ['{run: [x, "${steps.fetch}"]}', '`steps.fetch` is unknown', 'it is one of `steps.fetch.exit_code`'],
  ['{run: [x, "${steps.fetch.zzzzzz}"]}', '`steps.fetch.zzzzzz` is unknown', 'it is one of'],
  ['{run: [x, "${run.idd}"]}', '`run.idd` is unknown', 'did you mean `run.id`?'],
  ['{run: [x, "${env}"]}', '`env` alone is nothing', '`${env.HOME}`'],
  ['{run: [x, "${params.region}"]}', '`params.region` is unknown', 'write `${region}`'],
  ['{run: [x, "${}"]}', 'an empty reference', undefined],
  ['{shell: "echo ${steps.fetsh.output}"}', 'no step has this id', 'did you mean `steps.fetch`?'],
  ['{shell: "echo ${itmes.count}"}', '`itmes` is unknown', 'did you mean `items`?'],
  ['{shell: "echo ${report.count}"}', '`report` is captured by step last', 'a reference is to an earlier step'],
  [
    '{shell: "echo ${itmes}"}',
    '`itmes` is unknown: no parameter and no earlier step has this name',
    'did you mean `${items}`? (a variable of the shell is written `$itmes`)',
  ],
  ['{shell: "echo ${report}"}', '`report` is captured by step last', 'written `$report`'],
  ['{shell: x, when: itmes}', '`itmes` is unknown', 'did you mean `items`?'],
  ['{shell: x, when: region == None}', '`None` is unknown', 'write `null`'],
  [
    '{shell: x, when: items > 3}',
    '`items` is text, and is compared with a number',
    '`capture_format: number` in step fetch',
  ],
  ['{shell: x, when: env.LOG > 3}', '`env.LOG` is text, and is compared with a number', '`int(env.LOG)`'],
  ['{shell: x, env: {A: "${nope_nope}"}}', '`nope_nope` is unknown', 'known here: region, day, items'],
])('%s refers to nothing', (step, message, suggestion) => {
  const problems = problemsOf(around(step)).filter(
    (problem) => problem.message !== '`` is unknown: no parameter and no earlier step has this name',
  )
  expect(problems).toMatchObject([{ line: 7, message: expect.stringContaining(message) }])
  if (suggestion !== undefined) expect(problems[0]?.suggestion).toContain(suggestion)
})

test('the environment of the document knows parameters alone, a fallback of the defaults no step', () => {
  const text = `
env: {A: '\${items}'}
retry_defaults: {on_failure: {fallback: {command: 'echo \${steps.a.output} \${items}'}}}
steps: [{id: a, shell: x, capture: items}]`
  expect(problemsOf(text).map(({ message }) => message)).toEqual([
    '`items` is captured by step a, which has not run then',
    'step a has not run then',
    '`items` is captured by step a, which has not run then',
  ])
})

test('references are checked although the document has other problems', () => {
  const problems = problemsOf('steps: [{run: ["${x}"], rety: 5}, 5, {shell: [], claude: "${y}"}]')
  expect(problems.map(({ path }) => path)).toEqual([
    'steps[0].run[0]',
    'steps[0].rety',
    'steps[1]',
    'steps[2].shell',
    'steps[2].claude',
    'steps[2].claude',
  ])
})

test.each([
  ['{shell: x, capture: n, capture_format: number}', 'n > 3'],
  ['{shell: x, capture: n, capture_format: json}', 'n > 3'],
  ['{script: {module: ./x.mjs}, capture: n}', 'n > 3'],
  ['{shell: x, capture: n}', 'n > x'],
])('after %s the condition %s may be true', (step, when) => {
  const text = `params: {x: 1}\nsteps:\n  - ${step}\n  - {shell: x, when: ${when}}\n`
  expect(problemsOf(text)).toEqual([])
})

test('a problem with a reference is placed at the reference, in a block of many lines too', () => {
  const text = `steps:
  - {shell: x, capture: items}
  - run: [echo, "a", "x \${itmes} y"]
  - shell: |
      echo a
      echo "\${itmes}"
  - shell: x
    when: items != itmes
`
  expect(problemsOf(text).map(({ line, column }) => [line, column])).toEqual([
    [3, 25],
    [6, 13],
    [8, 20],
  ])
})
