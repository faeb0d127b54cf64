/** Jobs as they are submitted: what is accepted, in which form, and what is refused with which words. */
import { OptionsError } from 'reprise'
import { describe, expect, it } from 'vitest'
import { checkJobRequest, idFromKey, readJobRequest } from './job-request.js'
import { MAX_DOCUMENT_BYTES, MAX_JOB_BYTES } from './read-workflows.js'

const job = { workflows: [{ name: 'login', document: 'steps: []' }], datacenters: ['eu', 'us'] }

const problemsOf = (changes: object): string[] =>
  checkJobRequest({ ...job, ...changes }).problems.map(
    ({ path, message, suggestion }) => `${path}: ${message}${suggestion === undefined ? '' : ` (${suggestion})`}`,
  )

describe('a job request', () => {
  it('has its defaults where fields are left out', () => {
    expect(readJobRequest(job)).toMatchObject({
      id: null,
      idempotencyKey: null,
      name: 'job',
      allowsRetries: true,
      retryBudget: 0,
      bestEffort: false,
      minDcs: 0,
      deadlineMs: 0,
      settleMs: 0,
      strictMinDcs: true,
      budgetScope: 'job',
      retryBudgetCounts: 'all',
      onBudgetExhausted: 'fail',
      datacenterSuccess: 'any',
      stragglers: 'run',
      timeoutMs: null,
      dispatchTimeoutMs: null,
      maxDispatchAttempts: null,
      lateResultPolicy: null,
      aggregate: {},
    })
  })

  it('means the same with flat fields, with an object and in camelCase', () => {
    const flat = readJobRequest({
      ...job,
      best_effort: true,
      best_effort_min_dcs: 2,
      best_effort_deadline_seconds: 90.5,
      best_effort_settle_seconds: 10,
    })
    const nested = readJobRequest({ ...job, bestEffort: { minDcs: 2, deadline: '1m30s500ms', settle: '10s' } })
    expect(flat).toMatchObject({ bestEffort: true, minDcs: 2, deadlineMs: 90_500, settleMs: 10_000 })
    expect(nested).toEqual(flat)
  })

  it('merges datacenters that are named twice', () => {
    expect(readJobRequest({ ...job, datacenters: ['eu', 'us', 'eu'] }).datacenters).toEqual(['eu', 'us'])
  })

  it('has the same hash whatever the order of its keys, and another for another payload', () => {
    const params = { ...job, workflows: [{ name: 'a', handler: 'x', params: { a: 1, b: 2 } }] }
    const turned = { datacenters: job.datacenters, workflows: [{ params: { b: 2, a: 1 }, handler: 'x', name: 'a' }] }
    expect(readJobRequest(turned).payloadHash).toBe(readJobRequest(params).payloadHash)
    expect(readJobRequest({ ...params, job_id: 'j1' }).payloadHash).toBe(readJobRequest(params).payloadHash)
    expect(readJobRequest({ ...params, retry_budget: 7 }).payloadHash).not.toBe(readJobRequest(params).payloadHash)
  })

  it('has the id that is given, else one that is derived from its key', () => {
    expect(readJobRequest({ ...job, job_id: 'j-1', idempotency_key: 'k' })).toMatchObject({
      id: 'j-1',
      idempotencyKey: 'k',
    })
    expect(readJobRequest({ ...job, idempotency_key: 'k' }).id).toBe(idFromKey('k'))
    expect(idFromKey('k')).not.toBe(idFromKey('l'))
  })

  it('keeps an embedded document as text, and an object as JSON', () => {
    const { workflows } = readJobRequest({
      ...job,
      workflows: [
        { name: 'a', file: 'a.yaml', document: 'steps: []' },
        { name: 'b', document: { steps: [] }, needs: ['a'], params_by_datacenter: { us: { n: 1 } } },
      ],
    })
    expect(workflows).toMatchObject([
      { source: { kind: 'document', text: 'steps: []', file: 'a.yaml' }, needs: [] },
      { source: { kind: 'document', text: '{"steps":[]}', file: null }, needs: ['a'] },
    ])
  })

  it('throws every problem at once', () => {
    const wrong = { ...job, retry_budget: -1, datacenters: [], timeout: 5 }
    expect(() => readJobRequest(wrong)).toThrow(OptionsError)
    expect(problemsOf({ retry_budget: -1, datacenters: [], timeout: 5 })).toHaveLength(3)
  })
})

describe('a job request is refused', () => {
  it.each([
    [{ retry_budget: -1 }, 'retry_budget: -1 is not a whole number from 0 to 1000000'],
    [{ retry_budget: 1.5 }, 'retry_budget: 1.5 is not a whole number from 0 to 1000000'],
    [{ retry_budget: Number.NaN }, 'retry_budget: NaN is not a whole number from 0 to 1000000'],
    [{ retry_budget: '20' }, 'retry_budget: "20" is not a whole number from 0 to 1000000'],
    [{ retry_budget: 1e9 }, 'retry_budget: 1000000000 is not a whole number from 0 to 1000000'],
    [{ max_dispatch_attempts: 0 }, 'max_dispatch_attempts: 0 is not a whole number from 1 to 1000000'],
    [{ best_effort: 'yes' }, 'best_effort: "yes" is not true or false'],
    [
      { best_effort_deadline_seconds: -5 },
      'best_effort_deadline_seconds: -5 is not a number of seconds from 0 to 31536000',
    ],
    [
      { best_effort: { deadline: 300 } },
      "best_effort.deadline: 300 is not a duration from 0ms to 365d such as '300s' or '300ms'",
    ],
    [{ best_effort: { min_dc: 2 } }, 'best_effort.min_dc: unknown field (did you mean `min_dcs`?)'],
    [
      { best_effort: { min_dcs: 2 }, best_effort_min_dcs: 2 },
      'best_effort_min_dcs: is given twice: in `best_effort` too',
    ],
    [{ timeout: '0s' }, 'timeout: 0ms leaves no time at all: leave the field out for no limit'],
    [{ stragglers: 'kill' }, 'stragglers: "kill" is not `run` or `cancel`'],
    [{ retires: 'none' }, 'retires: unknown field (did you mean `retries`?)'],
    [{ retries: 3 }, 'retries: 3 is not `none`'],
    [{ retries: 'none', retry_budget: 5 }, 'retry_budget: contradicts `retries: none`: leave one of them out'],
    [{ datacenters: [] }, 'datacenters: names no datacenter: say where the job runs, such as [eu, us]'],
    [
      { datacenters: ['eu/west'] },
      'datacenters[0]: "eu/west" is not the name of a datacenter: 1 to 63 letters, digits, `.`, `_` and `-`, a letter or digit first, such as `eu-west-1`',
    ],
    [
      { on_budget_exhausted: 'park' },
      'on_budget_exhausted: `park` needs `timeout` or `best_effort`, or the job might never end',
    ],
    [
      { aggregate: { requests: 'p99' } },
      'aggregate.requests: "p99" is not `sum` or `min` or `max` or `mean` or `count` or `histogram`',
    ],
    [{ idempotency_key: '' }, 'idempotency_key: a text of 0 characters is not a key: a text of 1 to 256 characters'],
    [{ workflows: [] }, 'workflows: is empty: name at least one workflow, such as [{ name: probe, file: probe.yaml }]'],
    [{ workflows: [{ name: 'a' }] }, 'workflows[0]: says nothing to run: give it `file`, `document` or `handler`'],
    [
      { workflows: [{ name: 'a', file: 'a.yaml' }] },
      'workflows[0].file: its content is missing: embed it as `document`',
    ],
    [
      { workflows: [{ name: 'a', handler: 'x', document: 'y' }] },
      'workflows[0].handler: names a function where `document` or `file` says what to run: leave one out',
    ],
    [
      {
        workflows: [
          { name: 'a', handler: 'x' },
          { name: 'a', handler: 'y' },
        ],
      },
      'workflows[1].name: `a` is the name of workflows[0] too',
    ],
    [
      {
        workflows: [
          { name: 'login', handler: 'x' },
          { name: 'b', handler: 'x', needs: ['logn'] },
        ],
      },
      'workflows[1].needs[0]: no workflow of the job is called `logn` (did you mean `login`?)',
    ],
    [
      {
        workflows: [
          { name: 'a', handler: 'x', needs: ['b'] },
          { name: 'b', handler: 'x', needs: ['c'] },
          { name: 'c', handler: 'x', needs: ['b'] },
        ],
      },
      'workflows[1].needs: goes in a circle: b needs c needs b',
    ],
    [
      { workflows: [{ name: 'a', handler: 'x', params_by_datacenter: { ue: {} } }] },
      'workflows[0].params_by_datacenter.ue: is no datacenter of the job (did you mean `eu`?)',
    ],
    [
      { workflows: [{ name: 'a', handler: 'x', params: { at: new Date(0) } }] },
      'workflows[0].params: workflows[0].params.at is an object of class Date: what is kept must be JSON',
    ],
  ])('with %j', (changes, problem) => {
    expect(problemsOf(changes)).toEqual([problem])
  })

  it('with a document of more than 1 MiB', () => {
    const document = 'x'.repeat(MAX_DOCUMENT_BYTES + 1)
    expect(problemsOf({ workflows: [{ name: 'a', file: 'a.yaml', document }] })).toEqual([
      'workflows[0].file: has 1048577 bytes, and a document at most 1048576 (1 MiB)',
    ])
  })

  it('with documents of more than 8 MiB together', () => {
    const document = 'x'.repeat(MAX_DOCUMENT_BYTES)
    const workflows = Array.from({ length: 9 }, (_, index) => ({ name: `w${index}`, document }))
    expect(problemsOf({ workflows })[0]).toContain(`those of a job at most ${MAX_JOB_BYTES} (8 MiB)`)
  })

  it('when it is no object', () => {
    expect(checkJobRequest([]).problems).toEqual([
      { path: '', message: 'a list is not a job: an object with `workflows` and `datacenters`' },
    ])
  })

  it('with a chain of ten thousand workflows only if it is a circle', () => {
    const chain = Array.from({ length: 10_000 }, (_, index) => ({
      name: `w${index}`,
      handler: 'x',
      needs: index === 0 ? [] : [`w${index - 1}`],
    }))
    expect(problemsOf({ workflows: chain })).toEqual([])
    const circle = [{ ...chain[0], needs: ['w9999'] }, ...chain.slice(1)]
    expect(problemsOf({ workflows: circle })).toHaveLength(1)
  })
})
