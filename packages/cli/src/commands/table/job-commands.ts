/** Commands about jobs over datacenters. Imports types only. */
import type { CommandEntry, CommandOption } from '../../command.js'

const JOB: NonNullable<CommandEntry['values']> = [
  ['<job>', 'an id, the beginning of one, a name for its last job, or latest'],
]
const FILE: NonNullable<CommandEntry['values']> = [['<file>', 'a file of `mode: job`; - is stdin']]
const REASON: CommandOption = { flags: '--reason <text>', text: 'why; it is recorded' }
const JOB_ID: CommandOption = { flags: '--job-id <id>', text: 'the id of the job: the same job if it exists already' }

/** Of commands that can ask a gate instead of a store. */
const GATE: readonly CommandOption[] = [
  { flags: '--gate <url>', text: 'ask this gate instead of a store; its token is in REPRISE_GATE_TOKEN' },
  { flags: '--token-file <file>', text: 'a file with the token of the gate' },
]

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
    options: [JOB_ID, { flags: '--wait', text: 'wait for the result, as `job wait` does' }, ...GATE],
    examples: [
      ['job submit probe.yaml', 'prints the id'],
      ['job submit probe.yaml --wait --store postgres://db/jobs', ''],
      ['job submit probe.yaml --gate https://gate.example', 'needs no access to the store'],
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
    options: [{ flags: '--watch', text: 'until the job has completed' }, ...GATE],
    examples: [
      ['job status latest', ''],
      ['job status probe-1 --watch', 'live'],
    ],
    load: async () => (await import('../job/read.js')).status,
  },
  {
    name: 'wait',
    ndjson: true,
    summary: 'wait until a job has completed, and show its result',
    values: JOB,
    options: GATE,
    examples: [['job wait probe-1', 'the exit code says how it ended']],
    more: 'A gate that does not answer is asked again for five minutes.',
    load: async () => (await import('../job/read.js')).wait,
  },
  {
    name: 'result',
    summary: 'show the result of a job that has completed',
    values: JOB,
    options: GATE,
    examples: [['job result probe-1 --json', 'with the outputs of every workflow']],
    load: async () => (await import('../job/read.js')).result,
  },
  {
    name: 'list',
    summary: 'list jobs, the latest first',
    options: [
      { flags: '--state <state>', text: 'only these', choices: ['running', 'completed'] },
      { flags: '--limit <n>', text: 'at most this many (default: 20)' },
      { flags: '--cursor <text>', text: 'continue at `next` of the list before, which --json prints' },
      ...GATE,
    ],
    examples: [['job list --state running', '']],
    load: async () => (await import('../job/read.js')).list,
  },
]

const CHANGING: readonly CommandEntry[] = [
  {
    name: 'cancel',
    summary: 'cancel a job: what waits does not start, what runs is stopped',
    values: JOB,
    options: GATE,
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
      {
        flags: '--metrics-port <[host:]port>',
        text: 'serve the metrics of all jobs for Prometheus at /metrics (default host: 127.0.0.1)',
      },
    ],
    examples: [
      ['worker --datacenter eu --slots 8 --store postgres://db/jobs', ''],
      ['worker --datacenter eu --metrics-port 9464', 'then: curl localhost:9464/metrics'],
    ],
    more: `The first Ctrl-C lets the running workflows end and claims no other. The second
stops at once: other workers of the datacenter take over.`,
    load: () => import('../worker.js'),
  },
  {
    name: 'gate',
    summary: 'serve the HTTP API of jobs, until it is stopped',
    options: [
      { flags: '--port <n>', text: 'the port; 0 is any that is free (default: 7718)' },
      { flags: '--host <address>', text: 'where to listen (default: 127.0.0.1); another one needs --public-url' },
      { flags: '--public-url <url>', text: 'what others call the gate; requests for another host are refused' },
      { flags: '--socket <path>', text: 'listen at a socket that only this user can open, instead of a port' },
      {
        flags: '--tokens <file>',
        text: 'a file with lines `view|act NAME TOKEN`, mode 600 (default: a token for this start)',
      },
      { flags: '--no-token', text: 'whoever reaches the gate may act; only on this machine' },
      { flags: '--allow-changes', text: 'let tokens that may act change datacenters and limits too' },
      { flags: '--retention <duration>', text: 'remove jobs this long after they completed (default: never)' },
      { flags: '--metrics-port <[host:]port>', text: 'serve metrics without a token at /metrics of another port' },
    ],
    examples: [
      ['gate', 'on this machine; the token is printed'],
      ['gate --host 0.0.0.0 --public-url https://gate.example --tokens tokens', ''],
      ['gate --socket /run/reprise/gate.sock --no-token', ''],
    ],
    more: `Any number of gates share a store, and none leads. Each also executes deadlines
and reports of jobs. The API is described at /api/openapi.json.
Variables such as RETRY_BUDGET_MAX that are set where it runs are written into
the store: \`reprise job settings\`.`,
    load: () => import('../gate.js'),
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
