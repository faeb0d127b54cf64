/**
 * The flags that describe a policy or a scenario: names, help and what their values are. `exec`, `explain` and `simulate`
 * take their options from here, and `policy-fields.ts` and `scenario-flags.ts` read them by it. Those of a policy are made
 * from the table of its fields.
 *
 * Light: every start of the program loads it. Imports types, and the table of policy fields.
 */
import { kebabCase, POLICY_FIELDS, type PolicyField, type PolicyFlag } from '@reprise/workflow/internal'
import type { PolicyInput } from 'reprise'
import type { CommandOption } from './command.js'

/** What the value of a flag is. `word`: one of `choices`. `jitter`: the same, or no value. `list`: with commas. `switch`: no value. */
export type FlagKind = 'number' | 'duration' | 'word' | 'jitter' | 'list' | 'switch'

export interface FlagEntry<Field extends string = string> extends CommandOption {
  /** What the library calls it. */
  readonly field: Field
  readonly kind: FlagKind
}

const policy = 'Policy'

const KINDS: Readonly<Record<PolicyFlag['value'], FlagKind>> = {
  '<n>': 'number',
  '<time>': 'duration',
  '<word>': 'word',
  '[word]': 'jitter',
  '<matchers>': 'list',
}

/** A flag that is left out leaves its field out. */
export const POLICY_FLAGS: readonly FlagEntry<keyof PolicyInput>[] = POLICY_FIELDS.flatMap((row) =>
  row.flag === undefined ? [] : [policyFlag(row, row.flag)],
)

/** Help is the table's sentence, as half a sentence. */
function policyFlag(
  { name, inFiles = name, doc }: PolicyField,
  { value, note = '', choices }: PolicyFlag,
): FlagEntry<keyof PolicyInput> {
  const text = doc.charAt(0).toLowerCase() + doc.slice(1, -1).replaceAll('`', '') + note
  return entry(inFiles as keyof PolicyInput, KINDS[value], policy, `--${kebabCase(inFiles)} ${value}`, text, choices)
}

/** Only for `simulate`: elsewhere a budget has a name, and is shared. */
export const BUDGET_FLAG: CommandOption = {
  group: policy,
  flags: '--budget <type>',
  text: "a budget for every client: adaptive, ratio, …; or '{type: adaptive, bulkhead: true}'",
}

const storm = 'Scenario'

/** The flags of a scenario. Each text ends with the default. */
export const SCENARIO_FLAGS = [
  entry('fault', 'word', storm, '--fault <word>', 'what goes wrong at the server (default: hang)', [
    'none',
    'hang',
    'refuse',
    'capacity',
    'slow',
    'errors',
    'flap',
    'overload',
  ]),
  entry(
    'amount',
    'number',
    storm,
    '--amount <n>',
    'size of the fault: the share of capacity left (default: 0.5), how many times slower (3) or busier (1.4), the share of errors (0.2)',
  ),
  entry('during', 'duration', storm, '--outage <time>', 'how long the fault lasts (default: 30s)'),
  entry('errorRate', 'number', storm, '--fail-rate <share>', 'share of answers that fail at any time (default: 0)'),
  entry('clients', 'number', storm, '--clients <n>', 'number of clients, each with its own budgets (default: 100)'),
  entry('load', 'number', storm, '--load <share>', 'calls made, as a share of the capacity (default: 0.75)'),
  entry('capacity', 'number', storm, '--capacity <n>', 'answers per second that the server can give (default: 1000)'),
  entry('serviceTime', 'duration', storm, '--service-time <time>', 'mean time to serve a request (default: 20ms)'),
  entry(
    'queue',
    'duration',
    storm,
    '--queue <time>',
    "length of the server's queue, as time to serve it (default: 2s)",
  ),
  entry('faultShare', 'number', storm, '--fault-share <share>', 'share of the server that the fault hits (default: 1)'),
  entry('keyed', 'switch', storm, '--keyed', 'calls to the part that the fault hits have their own key'),
  entry('burst', 'number', storm, '--burst <n>', 'extra calls at the moment the fault starts (default: 0)'),
  entry('restartAt', 'duration', storm, '--restart-at <time>', 'when all clients restart (default: 0s, never)'),
  entry(
    'ignoresSignal',
    'switch',
    storm,
    '--ignores-signal',
    'an operation that was given up goes on until the server answers',
  ),
  entry(
    'neighbours',
    'number',
    storm,
    '--neighbours <share>',
    'share of clients that retry three times without a budget (default: 0)',
  ),
  entry(
    'seed',
    'number',
    storm,
    '--seed <n>',
    'seed of the randomness: the same seed gives the same figures (default: 1)',
  ),
] as const

type FieldOf<T extends readonly FlagEntry[]> = T[number]['field']

/** As commander hands them over: text, or true for a flag without a value. */
export type PolicyFlagTexts = Readonly<Partial<Record<keyof PolicyInput, string | true>>>
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
  choices?: readonly string[],
): FlagEntry<Field> {
  return { field, kind, group, flags, text, ...(choices !== undefined && { choices }) }
}
