/**
 * The policy of one command, as flags give it: the same fields as under `retry:` of a step. Imports the library and the
 * spelling of flags.
 */
import { InputError, kebabCase, type Problem } from '@reprise/workflow'
import { normalizePolicy, type Policy, PolicyError } from 'reprise'
import type { Json } from 'reprise/durable'

/** As commander hands them over. */
export type CommandPolicyTexts = {
  readonly attempts?: string
  readonly backoff?: string
  readonly initialDelay?: string
  readonly maxDelay?: string
  /** True: the flag without a word. */
  readonly jitter?: string | true
  readonly retryBudget?: string
  readonly timeout?: string
  readonly totalTimeout?: string
  readonly retryOn?: string
}

export interface CommandPolicy {
  /** As a document would have it. */
  readonly document: Json
  readonly policy: Policy
}

/** Which flag stands for a field that is not called like it. */
const FLAGS: Readonly<Record<string, string>> = { attempt_timeout: '--timeout', timeout: '--total-timeout' }

/** Without any flag it is the policy of a call: three attempts with full jitter. */
export function readCommandPolicy(texts: CommandPolicyTexts): CommandPolicy {
  const document = documentOf(texts)
  const isEmpty = Object.keys(document).length === 0
  const given: Record<string, Json> = isEmpty ? { jitter: 'full' } : document
  try {
    return { document: given, policy: normalizePolicy(given, { needsUnits: true }).policy }
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error
    throw new InputError(error.problems.map(problemOf))
  }
}

function documentOf(texts: CommandPolicyTexts): Record<string, Json> {
  const { attempts, backoff, initialDelay, maxDelay, jitter, retryBudget, timeout, totalTimeout, retryOn } = texts
  const fields: Record<string, Json | undefined> = {
    attempts: attempts === undefined ? undefined : numberOf(attempts),
    backoff,
    initial_delay: initialDelay,
    max_delay: maxDelay,
    jitter: jitter === true ? 'full' : jitter === 'none' ? false : jitter,
    retry_budget: retryBudget,
    attempt_timeout: timeout,
    timeout: totalTimeout,
    retry_on: retryOn === undefined ? undefined : matchersOf(retryOn),
  }
  return Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, Json] => entry[1] !== undefined))
}

/** What is no number is left to be refused with the others. */
function numberOf(text: string): Json {
  return /^\d+$/.test(text) ? Number(text) : text
}

function matchersOf(text: string): Json {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
    .map((word): Json => {
      const exit = /^exit:(\d+)$/.exec(word)?.[1]
      return exit === undefined ? word : { exit_code: [Number(exit)] }
    })
}

function problemOf({ path, message, suggestion }: PolicyError['problems'][number]): Problem {
  const field = path.replace(/[.[].*$/s, '')
  const flag = FLAGS[field] ?? `--${kebabCase(field)}`
  return { message: `${flag}: ${message}`, ...(suggestion !== undefined && { suggestion }) }
}
