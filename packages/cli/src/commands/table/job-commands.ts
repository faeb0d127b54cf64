/** Commands about jobs over datacenters. Imports types only. */
import type { CommandEntry, CommandOption } from '../../command.js'

const JOB: NonNullable<CommandEntry['values']> = [
  ['<job>', 'an id, the beginning of one, a name for its last job, or latest'],
]
const FILE: NonNullable<CommandEntry['values']> = [['<file>', 'a file of `mode: job`; - is stdin']]
const REASON: CommandOption = { flags: '--reason <text>', text: 'why; it is recorded' }
const JOB_ID: CommandOption = { flags: '--job-id <id>', text: 'the id of the job: the same job if it exists already' }

const RUNNING: readonly CommandEntry[] = [
  {
    name: 'run',
    ndjson: true,
    summary: 'run a job here, with the datacenters as groups of local workers',
    values: FILE,
    options: [JOB_ID, { flags: '--slots <n>', text: 'workflows at a time at each datacenter (default: 4)' }],
    examples: [
      ['job run probe.yaml', 'needs no server: the store is a file'],
      ['job run probe.yaml --json | jq .outcome', ''],
    ],
    more: `If it is stopped or killed, \`reprise resume JOB\` continues it.
Exit codes: 0 success; 3 partial or below the minimum, without success; 1 failed,
timed out or cancelled. \`reprise explain FILE\` shows what a job may do.`,
    load: () => import('../job/run-job.js'),
  },
  {
    name: 'submit',
    ndjson: true,
    summary: 'submit a job to the workers that share the store',
    values: FILE,
    options: [JOB_ID, { flags: '--wait', text: 'wait for the result, as `job wait` does' }],
    examples: [
      ['job submit probe.yaml', 'prints the id'],
      ['job submit probe.yaml --wait --store postgres://db/jobs', ''],
    ],
    more: `Workers are started with \`reprise worker --datacenter NAME\`. A datacenter that no
worker has ever registered is refused.`,
    load: () => import('../job/submit.js'),
  },
]

const LOOKING: readonly CommandEntry[] = [
  {
    name: 'status',
    ndjson: true,
    summary: 'show a job: every workflow at every datacenter, budgets, and what it waits for',
    values: JOB,
    options: [{ flags: '--watch', text: 'until the job has completed' }],
    examples: [
      ['job status latest', ''],
      ['job status probe-1 --watch', 'live'],
    ],
    load: async () => (await import('../job/look.js')).status,
  },
  {
    name: 'wait',
    ndjson: true,
    summary: 'wait until a job has completed, and show its result',
    values: JOB,
    examples: [['job wait probe-1', 'the exit code says how it ended']],
    load: async () => (await import('../job/look.js')).wait,
  },
  {
    name: 'result',
    summary: 'show the result of a job that has completed',
    values: JOB,
    examples: [['job result probe-1 --json', 'with the outputs of every workflow']],
    load: async () => (await import('../job/look.js')).result,
  },
  {
    name: 'list',
    summary: 'list jobs, the latest first',
    options: [
      { flags: '--state <state>', text: 'only these', choices: ['running', 'completed'] },
      { flags: '--limit <n>', text: 'at most this many (default: 20)' },
    ],
    examples: [['job list --state running', '']],
    load: async () => (await import('../job/look.js')).list,
  },
]

const CHANGING: readonly CommandEntry[] = [
  {
    name: 'cancel',
    summary: 'cancel a job: what waits does not start, what runs is stopped',
    values: JOB,
    examples: [['job cancel probe-1', '']],
    load: async () => (await import('../job/change.js')).cancel,
  },
  {
    name: 'retry',
    summary: 'run the workflows of a job again that did not succeed; its budget is not reset',
    values: JOB,
    options: [
      { flags: '--failed', text: 'only failed workflows and those that were skipped for them' },
      { flags: '--datacenter <name>', text: 'only at this datacenter' },
    ],
    examples: [
      ['job retry probe-1', ''],
      ['job retry probe-1 --failed --datacenter eu', ''],
    ],
    load: async () => (await import('../job/change.js')).retry,
  },
  {
    name: 'settings',
    summary: 'show the limits for jobs, or write those of the environment into the store',
    options: [{ flags: '--write', text: 'write the limits of this environment into the store' }],
    examples: [
      ['job settings', 'of the environment, of the store, and what holds'],
      ['job settings --write', ''],
    ],
    more: `Read from RETRY_BUDGET_DEFAULT, RETRY_BUDGET_MAX,
RETRY_BUDGET_PER_WORKFLOW_DEFAULT, RETRY_BUDGET_PER_WORKFLOW_MAX,
BEST_EFFORT_DEFAULT_MIN_DCS, BEST_EFFORT_DEFAULT_DEADLINE_SECONDS,
BEST_EFFORT_DEADLINE_MAX_SECONDS, BEST_EFFORT_LATE_RESULT_POLICY and
BEST_EFFORT_CHECK_INTERVAL_SECONDS. The stricter of the two holds for every job
that is submitted.`,
    load: async () => (await import('../job/change.js')).settings,
  },
]

export const JOB_COMMANDS: readonly CommandEntry[] = [
  {
    name: 'job',
    summary: 'jobs over datacenters: run, submit, look, change',
    examples: [
      ['job run probe.yaml', 'on this machine, without a server'],
      ['job submit probe.yaml --wait', 'to workers that share the store'],
      ['job status latest --watch', ''],
    ],
    subcommands: [...RUNNING, ...LOOKING, ...CHANGING],
  },
  {
    name: 'worker',
    summary: 'run workflows of jobs for a datacenter, until it is stopped',
    options: [
      { flags: '--datacenter <name>', text: 'the datacenter that it works for' },
      { flags: '--slots <n>', text: 'workflows at a time (default: 4)' },
      { flags: '--lease <duration>', text: 'how long it is believed to live without a heartbeat (default: 15s)' },
      { flags: '--dir <path>', text: 'where commands run and relative paths start (default: the working directory)' },
    ],
    examples: [['worker --datacenter eu --slots 8 --store postgres://db/jobs', '']],
    more: `The first Ctrl-C lets the running workflows end and claims no other. The second
stops at once: other workers of the datacenter take over.`,
    load: () => import('../worker.js'),
  },
  {
    name: 'datacenters',
    summary: 'list datacenters with their workers, or take one out of service',
    examples: [
      ['datacenters', ''],
      ['datacenters disable ap --reason "fibre cut"', ''],
    ],
    subcommands: [
      {
        name: 'disable',
        summary: 'refuse new jobs for a datacenter, and record what is open there as failed',
        values: [['<name>', 'the datacenter']],
        options: [REASON],
        examples: [['datacenters disable ap --reason "fibre cut"', '']],
        load: async () => (await import('../datacenters.js')).disable,
      },
      {
        name: 'enable',
        summary: 'accept jobs for a datacenter again',
        values: [['<name>', 'the datacenter']],
        examples: [['datacenters enable ap', '']],
        load: async () => (await import('../datacenters.js')).enable,
      },
    ],
    load: () => import('../datacenters.js'),
  },
]
