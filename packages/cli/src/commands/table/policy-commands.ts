/** Commands that show what a policy does before it does it. Imports the flags and types. */
import type { CommandEntry } from '../../command.js'
import { BUDGET_FLAG, POLICY_FLAGS, SCENARIO_FLAGS } from '../../flag-table.js'

const SIMULATE_HELP = `The policy is that of the file, with the flags over it; or that of the flags; or
the recommended one, with --attempt-timeout and --timeout if they are given.
Those it is compared with wait as long for an answer as it does.

The table:
  load     attempts over calls while the fault goes on: worst second, mean
  back     after the end of the fault, until calls succeed again as before it
  success  of all calls, and of those in the minute after the fault
  goodput  successes in the fault, of the most that could be
  wasted   retries that did not help

--json prints { scenario, seed, summary, policies, verdict, notes }; a policy is
{ name, title, isSubject, calls, attempts, amplification: { worst, mean },
recoveryMs, success: { total, during, after }, goodput, wasted, extra,
latencyMs: { p50, p99 }, seconds: { calls, attempts, useful } }. Shares are of 1;
a recoveryMs of null is never, a goodput of null that nothing could succeed.`

export const POLICY_COMMANDS: readonly CommandEntry[] = [
  {
    name: 'explain',
    summary: 'show a policy as a table: each attempt, the wait before it, where it stops and why',
    values: [
      ['[file]', 'YAML or JSON file with a policy or a workflow; - is stdin'],
      ['[step]', 'id, name or position of a step of a workflow'],
    ],
    options: POLICY_FLAGS,
    examples: [
      ['explain policy.yaml', 'a policy: its fields, or what stands under `retry:`'],
      ['explain workflow.yaml', 'every step of a workflow, a line for each'],
      ['explain workflow.yaml fetch', 'one step, with `retry_defaults` merged in'],
      ['explain policy.yaml --attempts 8', 'with something else than the file says'],
      ['explain --attempts 5 --initial-delay 1s --timeout 2m', 'what `exec` does with these flags'],
      ["explain policy.yaml --json | jq '.policies[0].stop'", ''],
    ],
    load: () => import('../explain.js'),
  },
  {
    name: 'simulate',
    summary: 'show what a policy does in a storm: load, recovery and success, beside well-known policies',
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
        text: 'well-known policies, separated by commas; all, or none (default: a handful)',
      },
      { flags: '--svg <file>', text: 'draw a picture for documents; - writes it to stdout instead of the text' },
    ],
    examples: [
      ['simulate', 'the recommended policy while a server hangs for 30s'],
      ['simulate policy.yaml', 'your policy; its budget stands in the same file, under `budgets:`'],
      ['simulate workflow.yaml fetch', 'one step of a workflow'],
      ['simulate --attempts 5 --backoff exponential --attempt-timeout 1s --budget adaptive', ''],
      ['simulate policy.yaml --fault capacity --amount 0.5 --outage 60s --compare all', ''],
      ['simulate policy.yaml --fault-share 0.1 --neighbours 0.3', 'a tenth of the server, and others that retry'],
      ['simulate policy.yaml --svg storm.svg', 'a picture beside the text'],
      ["simulate policy.yaml --json | jq '.policies[] | [.name, .amplification.worst, .recoveryMs]'", ''],
    ],
    more: SIMULATE_HELP,
    load: () => import('../simulate.js'),
  },
]
