/**
 * The routes of jobs as data. A server makes handlers, checks and its OpenAPI document from them, a client its requests; this
 * package serves nothing itself. Pure. Imports the schemas.
 */
import { ANSWER_SCHEMAS, refTo } from './answer-schemas.js'
import type { JobOperationName } from './job-operations.js'
import { JOB_EXAMPLE, jobRequestSchema } from './job-request-schema.js'
import type { Route, RouteField } from './route.js'

/** Documents and parameters of a job have at most 8 MiB; as text within JSON they are longer. */
const MAX_SUBMISSION_BYTES = 12 * 1024 * 1024

/** The longest wait that one request may ask for: shorter than a server lets a request take. */
export const MAX_WAIT_SECONDS = 25

const NAME = '^[A-Za-z0-9][A-Za-z0-9._-]*$'

const JOB: RouteField = {
  name: 'id',
  text: 'The id of the job.',
  type: 'text',
  most: 100,
  pattern: NAME,
  isRequired: true,
  example: 'probe-1',
}

const ONLY_AT: RouteField = {
  name: 'datacenter',
  text: 'Only at this datacenter.',
  type: 'text',
  most: 63,
  pattern: NAME,
  example: 'eu',
}

const DATACENTER: RouteField = { ...ONLY_AT, name: 'name', text: 'The name of the datacenter.', isRequired: true }

const LIMIT: RouteField = {
  name: 'limit',
  text: 'At most this many; 20 if it is not given.',
  type: 'whole',
  least: 1,
  most: 200,
  example: 20,
}

type JobRoute = Route<JobOperationName>

const JOBS: readonly JobRoute[] = [
  {
    method: 'POST',
    path: '/api/v1/jobs',
    operation: 'submitJob',
    summary: 'submit a job; the same id or idempotency key with the same content is the same job',
    access: 'act',
    body: { whole: 'job', schema: jobRequestSchema, example: JOB_EXAMPLE },
    bodyLimit: MAX_SUBMISSION_BYTES,
    answer: refTo('SubmittedJob'),
  },
  {
    method: 'GET',
    path: '/api/v1/jobs',
    operation: 'listJobs',
    summary: 'list jobs, the latest first',
    access: 'view',
    inQuery: [
      { name: 'state', text: 'Only these.', type: 'text', words: ['running', 'completed'], example: 'running' },
      LIMIT,
      {
        name: 'cursor',
        text: '`next` of the list before.',
        type: 'text',
        most: 120,
        pattern: '^\\d{1,16}(?:[.]\\d{1,12})?~[A-Za-z0-9][A-Za-z0-9._-]*$',
        example: '1767225600000~probe-1',
      },
    ],
    answer: refTo('JobList'),
  },
  {
    method: 'GET',
    path: '/api/v1/jobs/{id}',
    operation: 'showJob',
    summary: 'show a job: every workflow at every datacenter, budgets, and what it waits for',
    access: 'view',
    inPath: [JOB],
    answer: refTo('JobStatus'),
  },
  {
    method: 'GET',
    path: '/api/v1/jobs/{id}/result',
    operation: 'jobResult',
    summary: 'show the result of a job, or wait for it',
    access: 'view',
    inPath: [JOB],
    inQuery: [
      {
        name: 'wait_seconds',
        text: 'How long to wait for a job that runs; 0 if it is not given.',
        type: 'whole',
        least: 0,
        most: MAX_WAIT_SECONDS,
        example: 20,
      },
    ],
    answer: refTo('JobResult'),
    absent: { kind: 'not_completed', title: 'The job has not completed' },
  },
  {
    method: 'GET',
    path: '/api/v1/jobs/{id}/events',
    operation: 'jobEvents',
    summary: 'list what has happened to a job, in order',
    access: 'view',
    inPath: [JOB],
    inQuery: [
      {
        name: 'after',
        text: '`lastSeq` of the list before; from the first on if it is not given.',
        type: 'whole',
        least: 0,
        example: 0,
      },
      LIMIT,
    ],
    answer: refTo('JobEvents'),
  },
  {
    method: 'POST',
    path: '/api/v1/jobs/{id}/cancel',
    operation: 'cancelJob',
    summary: 'cancel a job: what waits does not start, what runs is stopped',
    access: 'act',
    inPath: [JOB],
    body: [],
    answer: refTo('CancelledJob'),
  },
  {
    method: 'POST',
    path: '/api/v1/jobs/{id}/retry',
    operation: 'retryJob',
    summary: 'run the workflows of a job again that did not succeed; its budget is not reset',
    access: 'act',
    inPath: [JOB],
    body: [
      {
        name: 'only_failed',
        text: 'Only failed workflows and those that were skipped for them.',
        type: 'flag',
        example: true,
      },
      ONLY_AT,
    ],
    answer: refTo('RetriedJob'),
  },
]

const OPERATING: readonly JobRoute[] = [
  {
    method: 'GET',
    path: '/api/v1/datacenters',
    operation: 'listDatacenters',
    summary: 'list datacenters with their workers',
    access: 'view',
    answer: refTo('DatacenterList'),
  },
  {
    method: 'GET',
    path: '/api/v1/workers',
    operation: 'listWorkers',
    summary: 'list the workers of all datacenters',
    access: 'view',
    answer: refTo('WorkerList'),
  },
  {
    method: 'POST',
    path: '/api/v1/datacenters/{name}/disable',
    operation: 'disableDatacenter',
    summary: 'refuse new jobs for a datacenter, and record what is open there as failed',
    access: 'operate',
    inPath: [DATACENTER],
    body: [{ name: 'reason', text: 'Why; it is recorded.', type: 'text', least: 1, most: 1000, example: 'fibre cut' }],
    answer: refTo('ChangedDatacenter'),
  },
  {
    method: 'POST',
    path: '/api/v1/datacenters/{name}/enable',
    operation: 'enableDatacenter',
    summary: 'accept jobs for a datacenter again',
    access: 'operate',
    inPath: [DATACENTER],
    body: [],
    answer: refTo('ChangedDatacenter'),
  },
  {
    method: 'GET',
    path: '/api/v1/settings',
    operation: 'showSettings',
    summary: 'show the limits for jobs: of this server, of the store, and what holds',
    access: 'view',
    answer: refTo('JobSettings'),
  },
  {
    method: 'POST',
    path: '/api/v1/settings',
    operation: 'writeSettings',
    summary: "write this server's limits for jobs into the store",
    access: 'operate',
    body: [],
    answer: refTo('JobSettings'),
  },
]

export const JOB_ROUTES: readonly JobRoute[] = [...JOBS, ...OPERATING]

/** The components of the OpenAPI document that the routes refer to. */
export const JOB_SCHEMAS = ANSWER_SCHEMAS
