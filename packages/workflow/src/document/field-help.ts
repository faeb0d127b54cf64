/**
 * What to write instead, for mistakes in files that the library cannot know the cure of: words of other tools, the
 * spelling of YAML, a value left empty. Keyed by the field and what stands there. Imports `located` and the library.
 */
import type { PolicyProblem } from 'reprise'
import { nearest } from 'reprise/internal'
import { faultOfDuration, shortForm } from './duration-fault.js'
import { camelCase, snakeCase } from './spelling.js'
import { hasFields } from './located.js'

/** What other tools call our fields, without case, dashes and underscores. */
const ALIASES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '': {
    ...named('attempts', ['maxattempts', 'maxtries', 'tries', 'times']),
    ...named('initial_delay', ['delay', 'wait', 'interval', 'mindelay', 'initialinterval', 'mintimeout']),
    ...named('max_delay', ['maxwait', 'maxinterval', 'maxtimeout']),
    ...named('retry_on', ['on', 'retryif', 'retryable', 'errors']),
    strategy: 'backoff',
    ...named('breaker', ['circuitbreaker', 'circuit']),
  },
  breaker: {
    ...named('failure_threshold', ['threshold', 'failures', 'maxfailures']),
    ...named('recovery_timeout', ['timeout', 'resettimeout', 'recovery']),
  },
  hedge: {
    ...named('delay', ['after', 'wait']),
    ...named('max_hedges', ['hedges', 'max', 'count']),
  },
  'backoff.exponential': named('base', ['factor', 'multiplier']),
}
/** These count what comes after the first execution. */
const COUNTS_OF_RETRIES = ['retries', 'maxretries', 'retrycount', 'retrylimit']
/** Parameters of a backoff, written where they are not looked for. */
const PARAMETERS: Readonly<Record<string, readonly [strategy: string, field: string, example: string]>> = {
  base: ['exponential', 'base', '2'],
  factor: ['exponential', 'base', '2'],
  multiplier: ['exponential', 'base', '2'],
  increment: ['linear', 'increment', '1s'],
  delays: ['custom', 'delays', '[1s, 5s]'],
  formula: ['custom', 'formula', 'initial * attempt'],
}
/** Delays that other tools have among the parameters of a backoff: here they stand beside it. */
const BESIDE_BACKOFF: Readonly<Record<string, string>> = {
  ...named('initial_delay', ['delay', 'base', 'basedelay', 'initial', 'initialdelay', 'min']),
  ...named('max_delay', ['max', 'maxdelay', 'cap']),
}
/** What a field takes that is an object, for a value that is none. */
const ACCEPTED: Readonly<Record<string, string>> = {
  '': 'give a number of attempts, `false` for no retry, or fields: `{attempts: 5}`',
  backoff: 'give a word such as `exponential`, or `{exponential: {base: 2}}`',
  breaker: 'give fields, such as `{failure_threshold: 5}`, or `{}` for the defaults',
  budget: 'give the name of a budget, or `{name: api, cost: 2}`',
  hedge: 'give `{delay: 500ms}` or `{percentile: 95}`',
}
const NAMED_BREAKER = 'give the name of one under `breakers:`, or fields such as `{failure_threshold: 5}`'
const DURATIONS = /(^|[._])(delay|timeout|after|budget|increment|delays)$/
const LISTS = /(^|\.)(retry_on|exit_code|delays)$/
const NUMBERS =
  /^$|(^|\.)(attempts|jitter_factor|base|cost|failure_threshold|half_open_max_calls|max_hedges|percentile)$/
const MAX_SHOWN = 40
/** `exit 75`, `exit_code:75`, `exit code 75`. */
const EXIT_CODE = /^exit(?:[ _-]?code)?[ :=]*(\d{1,3})$/i

/** Where a problem stands. */
interface Around {
  readonly value: unknown
  /** Words that are looked for beside the fields of a policy. */
  readonly words: readonly string[]
  /** Whether its author writes `maxDelay`; see `prefersCamel`. */
  readonly isCamel: boolean
  /** A breaker may be one that the workflow declares. */
  readonly isWorkflow: boolean
}

/** A cure for the problem; the library's, if we know none that is better. */
export function helpFor({ path, message, suggestion }: PolicyProblem, around: Around): string | undefined {
  const isSnake = !around.isCamel
  const field = snakeCase(path.replaceAll(/\[\d+\]/g, ''))
  const isUnknown = message === 'unknown field'
  const help =
    forDelay(path, around.value, isUnknown, isSnake) ??
    (isUnknown ? forKey(path, around.value, isSnake) : forParameter(path, around.value))
  const found =
    help ?? suggestion ?? (isUnknown ? forWord(path, around.words) : forValue(field, around, path.endsWith(']')))
  if (found === undefined) return undefined
  return isSnake ? found.replaceAll(/`[a-z]+[A-Z]\w*`/g, snakeCase) : found
}

function forKey(path: string, value: unknown, isSnake: boolean): string | undefined {
  const at = path.lastIndexOf('.')
  const [parent, key] = [snakeCase(path.slice(0, Math.max(0, at))), path.slice(at + 1)]
  const word = bare(key)
  if (parent === '' && COUNTS_OF_RETRIES.includes(word)) {
    return 'did you mean `attempts`? It counts the first execution as well'
  }
  if (parent === '' && Object.hasOwn(PARAMETERS, word)) return nested(word, value)
  const aliases = ALIASES[parent]
  const name = aliases !== undefined && Object.hasOwn(aliases, word) ? aliases[word] : undefined
  return name === undefined ? undefined : `did you mean \`${isSnake ? name : camelCase(name)}\`?`
}

/** `{exponential: {base: 1s, multiplier: 2, max: 30s}}`; a number as `base` of an exponential backoff is its factor. */
function forDelay(path: string, value: unknown, isUnknown: boolean, isSnake: boolean): string | undefined {
  if (!path.startsWith('backoff.')) return undefined
  const word = bare(path.slice(path.lastIndexOf('.') + 1))
  const isDelay = typeof value === 'string' && faultOfDuration(value) === undefined
  if (!Object.hasOwn(BESIDE_BACKOFF, word) || !(isUnknown || isDelay)) return undefined
  const name = BESIDE_BACKOFF[word] ?? ''
  const written = `${isSnake ? name : camelCase(name)}: ${isDelay ? value : '1s'}`
  const factor = word === 'base' && !isUnknown ? '; `base` is the factor' : ''
  return `write the delay beside \`backoff\`: \`${written}\`${factor}`
}

/** Somebody may have meant `retry:` or `steps:` and no field. */
function forWord(path: string, words: readonly string[]): string | undefined {
  const near = nearest(path, words)
  return near === undefined ? undefined : `did you mean \`${near}\`?`
}

/** `backoff: {base: 3}` names no strategy. */
function forParameter(path: string, value: unknown): string | undefined {
  const word = path.startsWith('backoff.') ? path.slice('backoff.'.length) : ''
  return Object.hasOwn(PARAMETERS, word) ? nested(word, value) : undefined
}

function nested(word: string, value: unknown): string {
  const [strategy = '', field = '', example = ''] = PARAMETERS[word] ?? []
  const isPlain = typeof value === 'number' || (typeof value === 'string' && field !== 'delays')
  return `did you mean \`backoff: {${strategy}: {${field}: ${isPlain ? shown(value) : example}}}\`?`
}

function forValue(field: string, { value, isWorkflow }: Around, isItem: boolean): string | undefined {
  if (typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) && NUMBERS.test(field)) {
    return `write it without quotes: \`${shown(value)}\``
  }
  const exitCode = field === 'retry_on' && typeof value === 'string' ? EXIT_CODE.exec(value)?.[1] : undefined
  if (exitCode !== undefined) return `did you mean \`exit:${exitCode}\`?`
  if (field === 'retry_on' && value === 429) return 'did you mean `rate_limit`?'
  if (field === 'retry_on' && typeof value === 'number' && value >= 500 && value < 600) return 'did you mean `5xx`?'
  if (!isItem && LISTS.test(field) && (typeof value === 'string' || typeof value === 'number')) {
    return `write it as a list: \`[${shown(value)}]\``
  }
  const short = DURATIONS.test(field) ? shortForm(value) : undefined
  if (short !== undefined) return short
  if (Object.hasOwn(ACCEPTED, field) && !hasFields(value) && (field === '' || typeof value !== 'string')) {
    return isWorkflow && field === 'breaker' ? NAMED_BREAKER : ACCEPTED[field]
  }
  return value === null ? 'give it a value, or leave it out to have the default' : undefined
}

/** A YAML file is snake_case and a JSON file camelCase, unless its author does otherwise. */
export function prefersCamel(policy: unknown, isJson: boolean): boolean {
  const keys = hasFields(policy) ? Object.keys(policy) : []
  return !keys.some((key) => key.includes('_')) && (isJson || keys.some((key) => /[a-z][A-Z]/.test(key)))
}

function named(name: string, aliases: readonly string[]): Record<string, string> {
  return Object.fromEntries(aliases.map((alias) => [alias, name]))
}

function shown(value: string | number): string {
  const text = String(value)
  return text.length > MAX_SHOWN ? '…' : text
}

function bare(key: string): string {
  return key.replaceAll(/[-_]/g, '').toLowerCase()
}
