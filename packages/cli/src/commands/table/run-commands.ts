/** Commands that run workflows and programs. Imports the flags and types. */
import type { CommandEntry, CommandOption } from '../../command.js'
import { POLICY_FLAGS } from '../../flag-table.js'
import { OUTPUT_MODES } from '../../output-mode.js'

/** Options for the output and the report of a run. */
const SHOWN: readonly CommandOption[] = [
  {
    flags: '--output <mode>',
    text: 'how much of the output of steps to show (default: grouped in CI, else failed)',
    choices: OUTPUT_MODES,
  },
  { flags: '--junit <file>', text: 'write a JUnit report: a test case for each step' },
]

/** Options for the maps of a run. */
const MAPS = 'Options for maps'
const JOB_LOG: CommandOption = {
  flags: '--joblog <file>',
  text: 'append a line to this file for each attempt of an item',
  group: MAPS,
}
const MAX_PARALLEL: CommandOption = {
  flags: '--max-parallel <n>',
  text: 'items at a time, in place of `max_parallel` of the file',
  group: MAPS,
}

const OUTPUT_HELP = `--output says how much of the output of steps is shown, on stderr:
  grouped  the whole output of an attempt, when the attempt has ended
  stream   each line at once, with the name of its step
  failed   the last 20 lines of each attempt that has failed
  none     nothing
Default: grouped in CI, stream with -v, none with --ndjson, else failed. On a
terminal, the live view is shown as well. Under GitHub Actions groups are folded,
failures are annotated, and workflow commands in the output of steps have no
effect. The logs have all output, with secrets masked: \`reprise logs RUN [STEP]\`.`

export const RUN_COMMANDS: readonly CommandEntry[] = [
  {
    name: 'run',
    ndjson: true,
    summary: 'run a workflow, and record it so that it can be resumed',
    values: [['<file>', 'YAML or JSON file with a workflow; - is stdin']],
    options: [
      { flags: '--param <name=value>', text: 'a parameter of the workflow', repeats: true },
      { flags: '--run-id <id>', text: 'the id of the run; an id that exists is refused (default: a new id)' },
      ...SHOWN,
      { flags: '--dry-run', text: 'show what would be run, with the items of maps, and run nothing' },
      MAX_PARALLEL,
      { flags: '--sample <n>', text: 'run the first items only, at most this many', group: MAPS },
      { flags: '--only <key>', text: 'run the item with this key only', repeats: true, group: MAPS },
      { flags: '--where <cel>', text: 'run the items only for which this holds, such as item.size > 10', group: MAPS },
      JOB_LOG,
    ],
    examples: [
      ['run workflow.yaml', 'every step, in order'],
      ['run workflow.yaml --param day=2026-01-31 --param region=eu', ''],
      ['run workflow.yaml --dry-run', 'show its steps with their policies'],
      ['run workflow.yaml --run-id nightly-7', 'choose the id, to resume it by'],
      ['run workflow.yaml --output stream', 'show the output of steps, line by line'],
      ['run workflow.yaml --junit reports/reprise.xml', 'a report for CI'],
      ['run workflow.yaml --ndjson | jq .type', 'events while they happen'],
      ['run import.yaml --sample 10', 'the first 10 items of its map; `reprise resume` runs the rest'],
      ['run import.yaml --only order-17 --only order-18', 'these items'],
      ["run import.yaml --where 'item.size > 10' --dry-run", 'list the items, and run nothing'],
      ['run import.yaml --max-parallel 2 --joblog jobs.tsv', 'two items at a time, a line for each attempt'],
      ['run import.yaml < ids.txt', 'a map with `input: {stdin: true}` reads its items'],
    ],
    more: `Ctrl-C stops the running attempt, records it and prints the command to resume.
After a crash or kill -9, \`reprise resume\` continues where the run stopped.

With --sample, --only or --where a part of the items of a map runs. The others
wait, the steps after the map do not run, and the run can be resumed; the exit
code is 0.

${OUTPUT_HELP}

When the run has ended, --json prints it as \`reprise show RUN --json\` does.`,
    load: () => import('../run.js'),
  },
  {
    name: 'exec',
    ndjson: true,
    summary: 'run one command with a policy, without a file',
    values: [['<command...>', 'the program and its arguments, after --']],
    options: [
      ...POLICY_FLAGS,
      {
        flags: '--durable <id>',
        text: 'record it under this id: the same id continues it, and does not repeat a success',
      },
    ],
    examples: [
      ['exec -- curl -fsS https://example.com', 'with the default policy'],
      ['exec --attempts 5 --initial-delay 1s --jitter -- ./deploy.sh', ''],
      ['exec --attempts 4 --attempt-timeout 30s --timeout 5m -- ./job', 'limits of one attempt, and of all together'],
      ['exec --retry-on network,5xx,exit:75 -- ./send', 'retry only what may pass'],
      ['exec --attempts 5 -- ./upload < dump.sql', 'every attempt reads the file'],
      ['exec --durable import-7 --attempts 5 -- ./import', 'if it is killed, the same command continues it'],
    ],
    more: `Without policy flags there are 3 attempts, with random waits of up to 1s and 2s
(full jitter). With any of them, the rest has these defaults: 3 attempts, backoff
exponential from 1s, at most 30s, and no jitter unless --jitter is given.
\`reprise explain\` with the same flags shows the waits.

Stdout and stderr are those of the command. If stdout is not a terminal, it gets
only the output of the last attempt: that of an attempt that is retried goes to
stderr. So an attempt that may be retried is written when it has ended, and with
--attempts 1 all is written as it comes. Every attempt gets the same stdin: a
file is opened again; a pipe is copied while it is read, up to 1 GiB, into an
unnamed file in TMPDIR. A terminal and /dev/null are passed on unchanged, and
with --attempts 1 any stdin is. --durable refuses a file or a pipe.

The exit code is that of the command: its own, 128 + n if signal n ended it, 124
if --attempt-timeout or --timeout ended it, 127 if there is no such program, 126
if it cannot be run. If reprise itself fails, the exit code is 2, 4, 70 or 74,
and its message on stderr starts with \`reprise:\`. A command that has succeeded
under its --durable id is not run again: it writes nothing, and exits with 0.`,
    load: () => import('../exec.js'),
  },
  {
    name: 'resume',
    ndjson: true,
    summary: 'show what will be kept, re-run and waited for, then continue a run',
    values: [['[run]', 'an id, the beginning of one, a workflow, or latest (default: the only interrupted run)']],
    options: [
      { flags: '--dry-run', text: 'show what would be done, and do nothing' },
      { flags: '--reset-retries', text: 'grant failed steps and items a fresh set of attempts; it is recorded' },
      { flags: '--accept-changes', text: 'continue although the workflow file has changed' },
      { flags: '--done <step>', text: 'an undecided step took effect: do not run it again', repeats: true },
      { flags: '--rerun <step>', text: 'an undecided step did not take effect: run it again', repeats: true },
      { flags: '--force', text: 'take the run over without waiting for the lease of its last owner' },
      MAX_PARALLEL,
      {
        flags: '--max-failures <n>',
        text: 'the failed item that stops a map, in place of the limit of the file',
        group: MAPS,
      },
      JOB_LOG,
      ...SHOWN,
    ],
    examples: [
      ['resume', 'the only interrupted run; of several, a list'],
      ['resume nightly-7', 'one run'],
      ['resume nightly-7 --dry-run', 'what it would do'],
      ['resume nightly-7 --reset-retries', 'with a fresh set of attempts for failed steps'],
      ['resume nightly-7 --done charge', 'you checked: the step took effect'],
      ['resume import-7 --max-failures 50', 'continue a map that was stopped at its limit'],
      ['resume probe-1', 'a job of `job run`: its workers are started again'],
    ],
    more: OUTPUT_HELP,
    load: () => import('../resume.js'),
  },
  {
    name: 'agent',
    ndjson: true,
    summary: 'run items of the maps of a run that another process executes',
    values: [['<run>', 'an id, the beginning of one, a workflow for its last run, or latest']],
    options: [
      { flags: '--parallel <n>', text: 'items at a time in this process (default: 8)' },
      { flags: '--cwd <dir>', text: 'where commands run here (default: the directory of the run, which must exist)' },
      { flags: '--lease <duration>', text: 'how long it is believed to live without a heartbeat (default: 30s)' },
      {
        flags: '--metrics-port <[host:]port>',
        text: 'serve metrics of the items that run here for Prometheus at /metrics (default host: 127.0.0.1)',
      },
    ],
    examples: [
      ['agent import-7', 'up to 8 items at a time, in this process'],
      ['agent latest --parallel 2', ''],
      ['agent import-7 --store postgres://db/app --cwd /srv/import', 'on another machine'],
      ['agent import-7 --ndjson | jq -c .type', 'what it does, as events'],
    ],
    more: `All agents and the process that executes the run share the limits of each map:
\`max_parallel\`, \`rate\`, gates, \`max_retries\` and the failures that stop it.
The workflow and its parameters come from the record, secrets and variables from
the environment of the agent. It waits while no process executes the run,
continues when another one resumes it, and leaves, with exit code 0, when the
maps or the run have ended. It never executes the other steps of the run.

Ctrl-C interrupts its items, which other processes begin again under the same
number. If it is killed, they are taken over: at once on the same machine, when
its lease has run out on another one.`,
    load: () => import('../agent.js'),
  },
  {
    name: 'rerun',
    ndjson: true,
    summary: 'run a step and all behind it once more, also of a run that succeeded',
    values: [['<run>', 'an id, the beginning of one, a workflow for its last run, or latest']],
    options: [
      { flags: '--from <step>', text: 'the first step that runs once more (required)' },
      { flags: '--dry-run', text: 'show what would be done, and do nothing' },
      { flags: '--accept-changes', text: 'continue although the workflow file has changed' },
      { flags: '--force', text: 'take the run over without waiting for the lease of its last owner' },
      ...SHOWN,
    ],
    examples: [
      ['rerun nightly-7 --from load', 'load and the steps behind it; what was before is kept'],
      ['rerun nightly-7 --from load --dry-run', 'what it would do'],
      ['rerun latest --from load --accept-changes', 'after the file was mended'],
    ],
    more: `Every step from there on gets a fresh set of attempts, and so do the steps of
\`on_failure\` and \`finally\`. Earlier steps are kept with what they captured; they
must have ended. Maps from there on read their items again: what was recorded of
the items before is removed. The change is recorded with the run, so that after a
kill \`reprise resume\` continues it. REPRISE_IDEMPOTENCY_KEY of a step stays the
same.

${OUTPUT_HELP}`,
    load: () => import('../rerun.js'),
  },
]
