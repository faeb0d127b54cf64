/** What no job can be made of is refused with the place and the cure, and nothing is created. Needs a build. */
import { existsSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { CliFixture } from '../workflow/cli-fixture.js'

let cli: CliFixture
afterEach(() => cli.remove())

const step = 'document: { steps: [{ shell: "true" }] }'
const job = (more: string, workflows = `  - { name: a, ${step} }`): string =>
  `mode: job\ndatacenters: [eu, us]\nworkflows:\n${workflows}\n${more}\n`
const NOT_WHOLE = 'is not a whole number from 0 to 1000000'

const REFUSED: readonly (readonly [what: string, file: string, told: string])[] = [
  ['a negative budget', job('retry_budget: -1'), `job.yaml:5:15: error: retry_budget: -1 ${NOT_WHOLE}`],
  ['a fraction', job('retry_budget: 1.5'), `job.yaml:5:15: error: retry_budget: 1.5 ${NOT_WHOLE}`],
  ['a text', job('retry_budget_per_workflow: many'), `error: retry_budget_per_workflow: "many" ${NOT_WHOLE}`],
  ['what is no number', job('retry_budget: .nan'), `error: retry_budget: NaN ${NOT_WHOLE}`],
  ['infinity', job('retry_budget: .inf'), `error: retry_budget: Infinity ${NOT_WHOLE}`],
  ['a number that is too large', job('retry_budget: 9007199254740993'), NOT_WHOLE],
  ['a negative minimum', job('best_effort: { min_dcs: -1 }'), `best_effort.min_dcs: -1 ${NOT_WHOLE}`],
  ['a negative deadline', job('best_effort: { deadline: -5s }'), 'best_effort.deadline: "-5s" is not a duration'],
  ['parking without an end', job('on_budget_exhausted: park'), '`park` needs `timeout` or `best_effort`'],
  ['no datacenter', job('').replace('[eu, us]', '[]'), 'job.yaml:2:1: error: datacenters: needs a list of one or more'],
  ['a path for a datacenter', job('').replace('eu,', '../eu,'), '"../eu" is not the name of a datacenter'],
  [
    'needs in a circle',
    job('', `  - { name: a, needs: [b], ${step} }\n  - { name: b, needs: [a], ${step} }`),
    'job.yaml:4:16: error: workflows[0].needs: goes in a circle: a needs b needs a',
  ],
  ['needs of nothing', job('', `  - { name: a, needs: [zz], ${step} }`), 'no workflow of the job is called `zz`'],
  ['a missing file', job('', '  - { name: a, file: nowhere.yaml }'), 'workflows[0].file: nowhere.yaml: no such file'],
  ['a document above 1 MiB', job('', '  - { name: a, file: long.yaml }'), 'long.yaml: is longer than 1 MiB'],
]

test.each(REFUSED)('%s is refused with its place', async (_what, file, told) => {
  cli = new CliFixture()
  cli.write('job.yaml', file)
  if (file.includes('long.yaml'))
    cli.write('long.yaml', `steps: [{ shell: "true" }]\n${'# a comment\n'.repeat(100_000)}`)
  const { code, stderr } = await cli.reprise('job', 'submit', 'job.yaml')
  expect(stderr).toContain(told)
  expect(code).toBe(2)
  expect(existsSync(cli.path('.reprise'))).toBe(false)
})

test('another job under the same id is refused, and the first one stays', async () => {
  cli = new CliFixture()
  cli.write('one.yaml', job('name: one'))
  cli.write('two.yaml', job('name: two'))
  expect((await cli.reprise('job', 'run', 'one.yaml', '--job-id', 'j')).code).toBe(0)
  const before = (await cli.reprise('job', 'result', 'j', '--json')).stdout
  const { code, stderr } = await cli.reprise('job', 'run', 'two.yaml', '--job-id', 'j')
  expect(code).toBe(4)
  expect(stderr).toContain('The job j was submitted before with other content: choose another id or key')
  expect((await cli.reprise('job', 'result', 'j', '--json')).stdout).toBe(before)
  const { stdout } = await cli.reprise('job', 'list', '--json')
  expect((JSON.parse(stdout) as { jobs: { id: string }[] }).jobs.map(({ id }) => id)).toEqual(['j'])
})
