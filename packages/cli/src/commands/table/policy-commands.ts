/** Commands that show what a policy would do, without calling anything. Imports the flags and types. */
import type { CommandEntry } from '../../command.js'
import { BUDGET_FLAG, POLICY_FLAGS, SCENARIO_FLAGS } from '../../flag-table.js'

const SIMULATE_HELP = `The simulated policy is that of the file, and flags override its fields. Without
a file, it is made of the flags. Without both, it is the recommended policy, also
if only --attempt-timeout and --timeout are given: those set its limits. The
policies that it is compared with have the same limits of time.

The table:
  load     attempts per call during the fault: in the worst second, on average
  back     time from the end of the fault until calls succeed as before it
  success  share of all calls, and of the calls in the minute after the fault
  goodput  successes during the fault, as a share of what the server could answer
  wasted   share of retries that did not help

--json prints { scenario, seed, summary, policies, verdict, notes }; a policy is
{ name, title, isSubject, calls, attempts, amplification: { worst, mean },
recoveryMs, success: { total, during, after }, goodput, wasted, extra,
latencyMs: { p50, p99 }, seconds: { calls, attempts, useful } }. A share is a
number from 0 to 1. recoveryMs is null if calls did not recover, goodput is null
if no call could succeed.`

export const POLICY_COMMANDS: readonly CommandEntry[] = [
  {
    name: 'explain',
    summary: 'show a policy as a table: each attempt, the wait before it, and when it stops',
    values: [
      ['[file]', 'YAML or JSON file with a policy or a workflow; - is stdin'],
      ['[step]', 'id, name or position of a step of a workflow'],
    ],
    options: POLICY_FLAGS,
    examples: [
      ['explain policy.yaml', 'a policy: its fields, alone or under `retry:`'],
      ['explain workflow.yaml', 'all steps of a workflow, one line for each'],
      ['explain workflow.yaml fetch', 'one step, with `retry_defaults` merged in'],
      ['explain policy.yaml --attempts 8', 'a flag overrides the file'],
      ['explain --attempts 5 --initial-delay 1s --timeout 2m', 'what `exec` does with the same flags'],
      ["explain policy.yaml --json | jq '.policies[0].stop'", ''],
    ],
    load: () => import('../explain.js'),
  },
  {
    name: 'simulate',
    summary: 'show what a policy does in an outage: load, recovery and success, beside well-known policies',
    values: [
      ['[file]', 'YAML or JSON file with a policy or a workflow; - is stdin'],
      ['[step]', 'id, name or position of a step of a workflow'],
    ],
    options: [
      ...POLICY_FLAGS,
      BUDGET_FLAG,
      ...SCENARIO_FLAGS,
      {
        flags: '--compare <names>',
        text: 'well-known policies to compare with, separated by commas; or all, or none (default: a few)',
      },
      { flags: '--svg <file>', text: 'also write a chart as SVG; - writes it to stdout instead of the text' },
    ],
    examples: [
      ['simulate', 'the recommended policy while a server hangs for 30s'],
      ['simulate policy.yaml', 'your policy; its budget is in the same file, under `budgets:`'],
      ['simulate workflow.yaml fetch', 'one step of a workflow'],
      ['simulate --attempts 5 --backoff exponential --attempt-timeout 1s --budget adaptive', ''],
      ['simulate policy.yaml --fault capacity --amount 0.5 --outage 60s --compare all', ''],
      [
        'simulate policy.yaml --fault-share 0.1 --neighbours 0.3',
        'a tenth of the server fails, and other clients retry',
      ],
      ['simulate policy.yaml --svg storm.svg', 'a chart beside the text'],
      ["simulate policy.yaml --json | jq '.policies[] | [.name, .amplification.worst, .recoveryMs]'", ''],
    ],
    more: SIMULATE_HELP,
    load: () => import('../simulate.js'),
  },
]
