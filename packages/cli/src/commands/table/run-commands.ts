/** Commands that execute. Imports the flags and types. */
import type { CommandEntry } from '../../command.js'
import { COMMAND_POLICY_OPTIONS } from './policy-options.js'

export const RUN_COMMANDS: readonly CommandEntry[] = [
  {
    name: 'run',
    summary: 'run a workflow; what it does is kept, so that it can be resumed',
    values: [['<file>', 'YAML or JSON file with a workflow; - is stdin']],
    options: [
      { flags: '--param <name=value>', text: 'a parameter of the workflow', repeats: true },
      { flags: '--run-id <id>', text: 'the name of the run; the same name again is refused (default: a new one)' },
      { flags: '--dry-run', text: 'say what would be run, and run nothing' },
    ],
    examples: [
      ['run workflow.yaml', 'every step, in order'],
      ['run workflow.yaml --param day=2026-01-31 --param region=eu', ''],
      ['run workflow.yaml --dry-run', 'which steps there are, with their policies'],
      ['run workflow.yaml --run-id nightly-7', 'a name to resume it by'],
      ['run workflow.yaml --ndjson | jq .type', 'events while they happen'],
    ],
    more: `Ctrl-C stops the attempt that runs, keeps the state and prints the command to
resume. After a crash or kill -9, \`reprise resume\` goes on where it stopped.

--json prints the run as \`reprise show RUN --json\` does, when it has ended.`,
    load: () => import('../run.js'),
  },
  {
    name: 'exec',
    summary: 'run one command with a policy, without a file',
    values: [['<command...>', 'the program and its arguments, after --']],
    options: [
      ...COMMAND_POLICY_OPTIONS,
      {
        flags: '--durable <id>',
        text: 'keep it in the store under this id: the same id goes on, and never runs twice',
      },
    ],
    examples: [
      ['exec -- curl -fsS https://example.com', 'with the default policy'],
      ['exec --attempts 5 --initial-delay 1s --jitter -- ./deploy.sh', ''],
      ['exec --attempts 4 --timeout 30s --total-timeout 5m -- ./job', 'limits of one attempt, and of all'],
      ['exec --retry-on network,5xx,exit:75 -- ./send', 'only what can get better'],
      ['exec --durable import-7 --attempts 5 -- ./import', 'killed, it goes on with the same command'],
    ],
    more: `The exit code is 0 when an attempt succeeded, else 1. Stdout and stderr are those
of the command; its stdin is empty, since several attempts could not read it.
What has succeeded under --durable is not run again, and writes nothing.`,
    load: () => import('../exec.js'),
  },
  {
    name: 'resume',
    summary: 'show what will be kept, re-run and waited for, then continue a run',
    values: [['[run]', 'the run (default: the only interrupted run)']],
    options: [
      { flags: '--dry-run', text: 'show what would be done, and do nothing' },
      { flags: '--reset-retries', text: 'grant failed steps a fresh set of attempts; it is recorded' },
      { flags: '--accept-changes', text: 'continue although the workflow file has changed' },
      { flags: '--done <step>', text: 'an undecided step took effect: do not run it again', repeats: true },
      { flags: '--rerun <step>', text: 'an undecided step did not take effect: run it again', repeats: true },
      { flags: '--force', text: 'take the run over without waiting for the lease of its last owner' },
    ],
    examples: [
      ['resume', 'the only interrupted run; of several, a list'],
      ['resume nightly-7', 'one run'],
      ['resume nightly-7 --dry-run', 'what it would do'],
      ['resume nightly-7 --reset-retries', 'with a fresh set of attempts for failed steps'],
      ['resume nightly-7 --done charge', 'you checked: the step took effect'],
    ],
    load: () => import('../resume.js'),
  },
]
