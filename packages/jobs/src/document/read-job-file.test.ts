/** Files of `mode: job`: what they become, and every problem at its place. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { InputError } from '@reprise/workflow'
import { isJob, jobSchema, parseSource } from '@reprise/workflow/internal'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_OPERATOR_SETTINGS } from '../rules/operator-settings.js'
import { explainJob } from './explain-job.js'
import { type JobFile, readJobFile } from './read-job-file.js'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'reprise-job-file-'))
  writeFileSync(path.join(directory, 'login.yaml'), 'steps: [{ shell: echo hello }]\n')
  writeFileSync(path.join(directory, 'buy.yaml'), 'params: { items: }\nsteps:\n  - shell: echo "${items}"\n')
})
afterEach(() => rmSync(directory, { recursive: true }))

const read = (text: string): Promise<JobFile> =>
  readJobFile(parseSource(path.join(directory, 'checkout probe.yaml'), text))

async function problemsOf(text: string): Promise<string[]> {
  try {
    await read(text)
    return []
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    return error.problems.map(({ file = '', line, column, message, suggestion }) => {
      const cure = suggestion === undefined ? '' : ` (${suggestion})`
      return `${path.basename(file)}:${line}:${column} ${message}${cure}`
    })
  }
}

const JOB = `mode: job
datacenters: [eu, us, ap]
workflows:
  - { name: login, file: login.yaml }
  - { name: buy, file: buy.yaml, needs: [login], params: { items: 3 }, params_by_datacenter: { ap: { items: 1 } } }
retry_budget: 20
best_effort: { min_dcs: 2, deadline: 5m, settle: 10s }
stragglers: cancel
aggregate: { requests: sum }
`

describe('a file of mode job', () => {
  it('becomes a request with its files embedded', async () => {
    const { request, plans, notes } = await read(JOB)
    expect(request).toMatchObject({
      name: 'checkout-probe',
      datacenters: ['eu', 'us', 'ap'],
      retryBudget: 20,
      bestEffort: true,
      minDcs: 2,
      deadlineMs: 300_000,
      settleMs: 10_000,
      stragglers: 'cancel',
      aggregate: { requests: 'sum' },
    })
    expect(request.workflows[1]).toMatchObject({
      name: 'buy',
      source: { kind: 'document', text: 'params: { items: }\nsteps:\n  - shell: echo "${items}"\n', file: 'buy.yaml' },
      paramsByDatacenter: { ap: { items: 1 } },
      needs: ['login'],
    })
    expect([...plans.keys()]).toEqual(['login', 'buy'])
    expect(notes).toEqual([])
  })

  it('may hold its workflows, and name handlers', async () => {
    const { request, plans } = await read(
      'mode: job\ndatacenters: [eu]\nworkflows:\n  - { name: a, document: { steps: [{ shell: "true" }] } }\n  - { name: b, handler: probe }\n',
    )
    expect(request.workflows.map(({ source }) => source.kind)).toEqual(['document', 'handler'])
    expect([...plans.keys()]).toEqual(['a'])
  })

  it('is known by its mode, or by its datacenters', () => {
    expect(isJob({ value: { mode: 'job' } })).toBe(true)
    expect(isJob({ value: { datacenters: ['eu'], workflows: [] } })).toBe(true)
    expect(isJob({ value: { steps: [] } })).toBe(false)
  })

  it('is not a workflow, which is told once, with the command that runs it', async () => {
    await expect(
      read('name: nightly\nsteps: [{ shell: "true" }]\nretry_defaults: { attempts: 2 }\n'),
    ).rejects.toMatchObject({
      problems: [
        { line: 2, message: 'this is a workflow, and not a job', suggestion: 'workflows are run: `reprise run FILE`' },
      ],
    })
  })

  it('is explained with its settings and how it ends', async () => {
    const { request } = await read(JOB)
    expect(explainJob(request, DEFAULT_OPERATOR_SETTINGS)).toMatchObject({
      firstAttempts: 6,
      mostAttempts: 24,
      sentences: [
        'At most 20 retries over all datacenters, 3 of one workflow at one datacenter: a workflow that fails after that has failed for good.',
        'It completes 10s later when 2 of 3 datacenters have completed.',
        'At the latest it completes after 5m with what is there, without success if fewer have completed.',
        'Datacenters that it did not wait for are cancelled.',
      ],
    })
  })

  it('has a schema that names every field', () => {
    const { properties } = jobSchema() as { properties: object }
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(['mode', 'datacenters', 'workflows', 'best_effort']))
  })
})

describe('a file of mode job is refused', () => {
  const head = 'mode: job\ndatacenters: [eu]\n'
  const workflows = 'workflows: [{ name: a, file: login.yaml }]\n'

  it.each([
    [`${head}${workflows}retry_budget: -1\n`, '4:15 -1 is not a whole number from 0 to 1000000'],
    [`${head}${workflows}retry_budget: 1.5\n`, '4:15 1.5 is not a whole number from 0 to 1000000'],
    [`${head}${workflows}retry_budget: many\n`, '4:15 "many" is not a whole number from 0 to 1000000'],
    [`${head}${workflows}retry_bugdet: 3\n`, '4:1 unknown field (did you mean `retry_budget`?)'],
    [`${head}${workflows}dcs: 3\n`, '4:1 unknown field (did you mean `datacenters`?)'],
    [
      `${head}${workflows}min_dcs: 2\n`,
      '4:1 unknown field (write it under `best_effort:`: `best_effort: {min_dcs: …}`)',
    ],
    [`${head}${workflows}best_effort: { deadline: 300 }\n`, '4:26 300 is not a duration'],
    [`${head}workflows: [{ name: a, file: nowhere.yaml }]\n`, '3:30 nowhere.yaml: no such file'],
    [`${head}workflows: [{ name: a }]\n`, '3:13 needs one of file, document, handler'],
    [`${head}workflows: [{ name: a, handler: x, needs: [a] }]\n`, '3:36 goes in a circle: a needs a'],
    [
      `${head}workflows: [{ name: a, handler: x, params_by_datacenter: { ue: {} } }]\n`,
      '3:60 is no datacenter of the job (did you mean `eu`?)',
    ],
    [`${head}workflows: [{ name: a, file: buy.yaml }]\n`, '3:13 the workflow needs the parameter items'],
    [
      `${head}workflows: [{ name: a, file: buy.yaml, params: { itmes: 1, items: 2 } }]\n`,
      '3:57 the workflow has no parameter itmes (did you mean `items`?)',
    ],
    [
      `${head}workflows: [{ name: a, document: { steps: [{ shel: x }] } }]\n`,
      '3:52 unknown field (did you mean `shell`?)',
    ],
    [
      `${head}${workflows}on_budget_exhausted: park\n`,
      '4:22 `park` needs `timeout` or `best_effort`, or the job might never end',
    ],
  ])('with %j', async (text, problem) => {
    expect(await problemsOf(text)).toEqual([expect.stringContaining(`checkout probe.yaml:${problem}`)])
  })

  it('with the problems of a workflow in its own file', async () => {
    writeFileSync(path.join(directory, 'login.yaml'), 'steps:\n  - shel: echo\n')
    expect(await problemsOf(`${head}${workflows}`)).toEqual([
      expect.stringContaining('login.yaml:2:5 unknown field (did you mean `shell`?)'),
    ])
  })

  it('with a document of more than 1 MiB', async () => {
    writeFileSync(path.join(directory, 'login.yaml'), `# ${'x'.repeat(1024 * 1024)}\nsteps: [{ shell: echo }]\n`)
    expect(await problemsOf(`${head}${workflows}`)).toEqual([
      expect.stringContaining('login.yaml: is longer than 1 MiB'),
    ])
  })
})
