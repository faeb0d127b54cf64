/**
 * The flags that describe a policy or a scenario: names, help and what their values are, in one table. `exec`, `explain`
 * and `simulate` take their options from here, and `policy-flags.ts` and `scenario-flags.ts` read them by it.
 *
 * Light: every start of the program loads it. Imports types only.
 */
import type { CommandOption } from './command.js'

/** What the value of a flag is. `jitter` may be left without a word; `list` has commas; `switch` has no value. */
export type FlagKind = 'number' | 'duration' | 'word' | 'jitter' | 'list' | 'switch'

export interface FlagEntry<Field extends string = string> extends CommandOption {
  /** What the library calls it. */
  readonly field: Field
  readonly kind: FlagKind
}

const policy = 'Policy'

/** A flag that is left out leaves its field out. */
export const POLICY_FLAGS = [
  entry('attempts', 'number', policy, '--attempts <n>', 'the first attempt and its retries'),
  entry('backoff', 'word', policy, '--backoff <word>', 'fixed, linear, exponential or fibonacci'),
  entry('initialDelay', 'duration', policy, '--initial-delay <time>', 'the first wait'),
  entry('maxDelay', 'duration', policy, '--max-delay <time>', 'the longest wait'),
  entry(
    'jitter',
    'jitter',
    policy,
    '--jitter [word]',
    'none, full, equal, decorrelated or proportional; full if no word is given',
  ),
  entry('retryBudget', 'duration', policy, '--retry-budget <time>', 'limit of the waits, all together'),
  entry('attemptTimeout', 'duration', policy, '--attempt-timeout <time>', 'limit of one attempt'),
  entry('timeout', 'duration', policy, '--timeout <time>', 'limit of everything: all attempts and their waits'),
  entry(
    'retryOn',
    'list',
    policy,
    '--retry-on <matchers>',
    'which failures to retry, separated by commas: network, timeout, 5xx, rate_limit, exit:75 (default: all)',
  ),
] as const

/** Of `simulate` alone: elsewhere a budget has a name that others share. */
export const BUDGET_FLAG: CommandOption = {
  group: policy,
  flags: '--budget <type>',
  text: "a budget for every client: adaptive, ratio, …; or '{type: adaptive, bulkhead: true}'",
}

const storm = 'Scenario'

/** What a scenario is when nothing is said of it; `text` shows it. */
export const SCENARIO_FLAGS = [
  entry(
    'fault',
    'word',
    storm,
    '--fault <word>',
    'hang, refuse, capacity, slow, errors, flap, overload or none (hang)',
  ),
  entry(
    'amount',
    'number',
    storm,
    '--amount <n>',
    'capacity: share that is left (0.5); slow, overload: how many times (3, 1.4); errors: share that fails (0.2)',
  ),
  entry('during', 'duration', storm, '--outage <time>', 'how long the fault lasts (30s)'),
  entry('errorRate', 'number', storm, '--fail-rate <share>', 'answers that fail by chance, always (0)'),
  entry('clients', 'number', storm, '--clients <n>', 'callers, each with budgets of its own (100)'),
  entry('load', 'number', storm, '--load <share>', 'calls offered, as a share of what the server can do (0.75)'),
  entry('capacity', 'number', storm, '--capacity <n>', 'answers per second that the server can do (1000)'),
  entry('serviceTime', 'duration', storm, '--service-time <time>', 'mean time to serve one request (20ms)'),
  entry('queue', 'duration', storm, '--queue <time>', "the server's queue, in time at full capacity (2s)"),
  entry('faultShare', 'number', storm, '--fault-share <share>', 'traffic and capacity that the fault hits (1)'),
  entry('keyed', 'switch', storm, '--keyed', 'calls to the part that the fault hits have a key of their own'),
  entry('burst', 'number', storm, '--burst <n>', 'calls made at once when the fault starts (0)'),
  entry('restartAt', 'duration', storm, '--restart-at <time>', 'when new clients replace all of them (0s: never)'),
  entry(
    'ignoresSignal',
    'switch',
    storm,
    '--ignores-signal',
    'what callers have given up goes on until it is answered',
  ),
  entry('neighbours', 'number', storm, '--neighbours <share>', 'clients that retry three times without a budget (0)'),
  entry('seed', 'number', storm, '--seed <n>', 'the same seed gives the same figures (1)'),
] as const

type FieldOf<T extends readonly FlagEntry[]> = T[number]['field']

/** As commander hands them over: text, or true for a flag without a value. */
export type PolicyFlagTexts = Readonly<Partial<Record<FieldOf<typeof POLICY_FLAGS>, string | true>>>
export type ScenarioFlagTexts = Readonly<Partial<Record<ScenarioOption, string | true>>>

/** Two of the options are not called like the fields. */
type ScenarioOption = Exclude<FieldOf<typeof SCENARIO_FLAGS>, 'during' | 'errorRate'> | 'outage' | 'failRate'

/** `--fail-rate` of `--fail-rate <share>`. */
export function flagName({ flags }: Pick<CommandOption, 'flags'>): string {
  return flags.split(' ', 1)[0] ?? flags
}

/** `failRate` of `--fail-rate <share>`: the option as commander names it. */
export function optionName(flag: Pick<CommandOption, 'flags'>): string {
  return flagName(flag)
    .slice(2)
    .replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())
}

function entry<Field extends string>(
  field: Field,
  kind: FlagKind,
  group: string,
  flags: string,
  text: string,
): FlagEntry<Field> {
  return { field, kind, group, flags, text }
}
