/** Commands that execute. Imports the flags and types. */
import type { CommandEntry, CommandOption } from '../../command.js'
import { POLICY_FLAGS } from '../../flag-table.js'
import { OUTPUT_MODES } from '../../output-mode.js'

/** What is shown of a run, and written about it. */
const SHOWN: readonly CommandOption[] = [
  {
    flags: '--output <mode>',
    text: 'what to show of the output of steps (default: grouped in CI, else failed)',
    choices: OUTPUT_MODES,
  },
  { flags: '--junit <file>', text: 'write a JUnit report: a test case for each step' },
]

const OUTPUT_HELP = `--output says what is shown of what steps write, on stderr: grouped is the whole
output of an attempt when it has ended; stream is each line as it comes, with the
step's name; failed is the last 20 lines of an attempt that has failed. Unless it
is given, that is grouped in CI, failed elsewhere, stream with -v and none with
--ndjson; a terminal has the live view. Under GitHub Actions groups are folded,
failures are annotated, and commands in the output of steps have no effect.
Everything is in the logs, secrets masked: \`reprise logs RUN [STEP]\`.`

export const RUN_COMMANDS: readonly CommandEntry[] = [
  {
    name: 'run',
    summary: 'run a workflow; what it does is kept, so that it can be resumed',
    values: [['<file>', 'YAML or JSON file with a workflow; - is stdin']],
    options: [
      { flags: '--param <name=value>', text: 'a parameter of the workflow', repeats: true },
      { flags: '--run-id <id>', text: 'the name of the run; the same name again is refused (default: a new one)' },
      ...SHOWN,
      { flags: '--dry-run', text: 'say what would be run, and run nothing' },
    ],
    examples: [
      ['run workflow.yaml', 'every step, in order'],
      ['run workflow.yaml --param day=2026-01-31 --param region=eu', ''],
      ['run workflow.yaml --dry-run', 'which steps there are, with their policies'],
      ['run workflow.yaml --run-id nightly-7', 'a name to resume it by'],
      ['run workflow.yaml --output stream', 'what steps write, line by line'],
      ['run workflow.yaml --junit reports/reprise.xml', 'a report for CI'],
      ['run workflow.yaml --ndjson | jq .type', 'events while they happen'],
    ],
    more: `Ctrl-C stops the attempt that runs, keeps the state and prints the command to
resume. After a crash or kill -9, \`reprise resume\` goes on where it stopped.

${OUTPUT_HELP}

--json prints the run as \`reprise show RUN --json\` does, when it has ended.`,
    load: () => import('../run.js'),
  },
  {
    name: 'exec',
    summary: 'run one command with a policy, without a file',
    values: [['<command...>', 'the program and its arguments, after --']],
    options: [
      ...POLICY_FLAGS,
      {
        flags: '--durable <id>',
        text: 'keep it in the store under this id: the same id goes on, and never runs twice',
      },
    ],
    examples: [
      ['exec -- curl -fsS https://example.com', 'with the default policy'],
      ['exec --attempts 5 --initial-delay 1s --jitter -- ./deploy.sh', ''],
      ['exec --attempts 4 --attempt-timeout 30s --timeout 5m -- ./job', 'limits of one attempt, and of all'],
      ['exec --retry-on network,5xx,exit:75 -- ./send', 'only what can get better'],
      ['exec --attempts 5 -- ./upload < dump.sql', 'every attempt reads the file'],
      ['exec --durable import-7 --attempts 5 -- ./import', 'killed, it goes on with the same command'],
    ],
    more: `Stdout and stderr are those of the command. Its stdin reaches every attempt: a
file is opened again; a pipe is kept while it is read, up to 1 GiB, in a file
without a name in TMPDIR. With --attempts 1 the command has its stdin as it is,
and always a terminal or /dev/null. --durable refuses a file or a pipe.

The exit code is that of the command: its own, 128 + n if signal n ended it, 124
if --attempt-timeout or --timeout did, 127 if there is no such program, 126 if it
cannot be run. Failures of reprise itself are 2, 4, 70 and 74, and stderr says
\`reprise:\` then. What has succeeded under --durable is not run again, and
writes nothing: 0.`,
    load: () => import('../exec.js'),
  },
  {
    name: 'resume',
    summary: 'show what will be kept, re-run and waited for, then continue a run',
    values: [['[run]', 'an id, the beginning of one, a workflow, or latest (default: the only interrupted run)']],
    options: [
      { flags: '--dry-run', text: 'show what would be done, and do nothing' },
      { flags: '--reset-retries', text: 'grant failed steps a fresh set of attempts; it is recorded' },
      { flags: '--accept-changes', text: 'continue although the workflow file has changed' },
      { flags: '--done <step>', text: 'an undecided step took effect: do not run it again', repeats: true },
      { flags: '--rerun <step>', text: 'an undecided step did not take effect: run it again', repeats: true },
      { flags: '--force', text: 'take the run over without waiting for the lease of its last owner' },
      ...SHOWN,
    ],
    examples: [
      ['resume', 'the only interrupted run; of several, a list'],
      ['resume nightly-7', 'one run'],
      ['resume nightly-7 --dry-run', 'what it would do'],
      ['resume nightly-7 --reset-retries', 'with a fresh set of attempts for failed steps'],
      ['resume nightly-7 --done charge', 'you checked: the step took effect'],
    ],
    more: OUTPUT_HELP,
    load: () => import('../resume.js'),
  },
]
