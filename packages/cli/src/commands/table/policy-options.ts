/** The flags that describe a policy, by what they are for. Imports types only. */
import type { CommandOption } from '../../command.js'

const group = 'Policy'

const COMMON: readonly CommandOption[] = [
  { group, flags: '--attempts <n>', text: 'the first attempt and its retries' },
  { group, flags: '--backoff <word>', text: 'fixed, linear, exponential or fibonacci' },
  { group, flags: '--initial-delay <time>', text: 'the first wait' },
  { group, flags: '--max-delay <time>', text: 'the longest wait' },
]

/** Of `simulate`, where a policy is that of a call. */
export const CALL_POLICY_OPTIONS: readonly CommandOption[] = [
  ...COMMON,
  { group, flags: '--jitter <word>', text: 'none, full, equal, decorrelated or proportional' },
  { group, flags: '--attempt-timeout <time>', text: 'limit of one attempt' },
  { group, flags: '--timeout <time>', text: 'limit of a call with all its attempts' },
  {
    group,
    flags: '--budget <type>',
    text: "a budget for every client: adaptive, ratio, …; or '{type: adaptive, bulkhead: true}'",
  },
]

/** Of `exec`, where `timeout` is that of one attempt, as it is of a step. */
export const COMMAND_POLICY_OPTIONS: readonly CommandOption[] = [
  ...COMMON,
  {
    group,
    flags: '--jitter [word]',
    text: 'none, full, equal, decorrelated or proportional; full if no word is given',
  },
  { group, flags: '--retry-budget <time>', text: 'limit of the waits, all together' },
  { group, flags: '--timeout <time>', text: 'limit of one attempt' },
  { group, flags: '--total-timeout <time>', text: 'limit of all attempts with their waits' },
  {
    group,
    flags: '--retry-on <matchers>',
    text: 'which failures to retry, separated by commas: network, timeout, 5xx, rate_limit, exit:75 (default: all)',
  },
]

const scenario = 'Scenario'

export const SCENARIO_OPTIONS: readonly CommandOption[] = [
  {
    group: scenario,
    flags: '--fault <word>',
    text: 'hang, refuse, capacity, slow, errors, flap, overload or none (default: hang)',
  },
  {
    group: scenario,
    flags: '--amount <n>',
    text: 'capacity: share that is left (0.5); slow, overload: how many times (3, 1.4); errors: share that fails (0.2)',
  },
  { group: scenario, flags: '--outage <time>', text: 'how long the fault lasts (30s)' },
  { group: scenario, flags: '--fail-rate <share>', text: 'answers that fail by chance, always (0)' },
  { group: scenario, flags: '--clients <n>', text: 'callers, each with budgets of its own (100)' },
  {
    group: scenario,
    flags: '--load <share>',
    text: 'calls offered, as a share of what the server can do (0.75)',
  },
  { group: scenario, flags: '--capacity <n>', text: 'answers per second that the server can do (1000)' },
  { group: scenario, flags: '--service-time <time>', text: 'mean time to serve one request (20ms)' },
  { group: scenario, flags: '--queue <time>', text: "the server's queue, in time at full capacity (2s)" },
  { group: scenario, flags: '--seed <n>', text: 'the same seed gives the same figures (1)' },
]
