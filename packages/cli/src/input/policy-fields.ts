/**
 * Fields of a policy as flags give them: the same, with the same meaning, as under `retry:` of a step. Light: `exec` waits
 * for nothing else. Imports the library and the table of flags.
 */
import { InputError, type Problem } from '@reprise/workflow'
import { normalizePolicy, type Policy, PolicyError, type PolicyInput } from 'reprise'
import type { Json } from 'reprise/durable'
import { type FlagKind, flagName, optionName, POLICY_FLAGS, type PolicyFlagTexts } from '../flag-table.js'

/** Only what was given, as a document could have it in camelCase. */
export type PolicyFields = Readonly<Record<string, Json>> & PolicyInput

export interface CommandPolicy {
  /** As a document would have it. */
  readonly document: Json
  readonly policy: Policy
}

/** Of one command. Without any flag it is the policy of a call: three attempts with full jitter. */
export function readCommandPolicy(texts: PolicyFlagTexts): CommandPolicy {
  const fields = readPolicyFields(texts)
  const document: PolicyFields = Object.keys(fields).length === 0 ? { jitter: 'full' } : fields
  return { document, policy: normalizePolicy(document).policy }
}

/** Throws every problem at once. */
export function readPolicyFields(texts: PolicyFlagTexts): PolicyFields {
  const given = texts as Readonly<Record<string, string | true | undefined>>
  const fields: Record<string, Json> = {}
  for (const flag of POLICY_FLAGS) {
    const text = given[optionName(flag)]
    if (text !== undefined) fields[flag.field] = READERS[flag.kind](text === true ? '' : text)
  }
  try {
    normalizePolicy(fields, { needsUnits: true })
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error
    throw new InputError(error.problems.map(problemOf))
  }
  return fields
}

/** What is not of its kind is left as it is, and refused with the rest. */
const READERS: Readonly<Record<FlagKind, (text: string) => Json>> = {
  number: (text) => (/^-?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : text),
  duration: (text) => text,
  word: (text) => text,
  // `none` is the word for no jitter; without a word it is `full`.
  jitter: (text) => (text === 'none' ? false : text === '' ? 'full' : text),
  list: (text) =>
    text
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== ''),
  switch: () => true,
}

function problemOf({ path, message, suggestion }: PolicyError['problems'][number]): Problem {
  const field = path.replace(/[.[].*$/s, '')
  const flag = POLICY_FLAGS.find((one) => one.field === field)
  const name = flag === undefined ? `--${field}` : flagName(flag)
  return { message: `${name}: ${message}`, ...(suggestion !== undefined && { suggestion }) }
}
