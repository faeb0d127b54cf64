/**
 * A file with one policy: its fields; or `retry:`, `retry_defaults:` or both, and other things beside them.
 * Budgets are defined beside it, under `budgets:`, and read elsewhere.
 *
 * Invariants: every problem of the file is told at once; defaults are merged field by field, `retry` before defaults
 * before built-in. Imports the library and the source.
 */
import type { NormalizedPolicy } from 'reprise'
import { nearest } from 'reprise/internal'
import { BUDGETS_KEY } from './budget-section.js'
import { shapeCheck } from './check-document.js'
import { checkOnFailure } from './check-retry.js'
import { ON_FAILURE_KEYS } from './fields-retry.js'
import { Findings } from './findings.js'
import { hintForKey, STEPS_HINT } from './hints.js'
import { checkPolicy } from './policy-check.js'
import { mergeFields, withoutFields } from './policy-data.js'
import { InputError } from './problem.js'
import type { Source } from './source.js'
import { fieldOf, hasFields, keyOf, type LocatedValue, wholeOf } from './located.js'

export interface LonePolicy extends NormalizedPolicy {
  /** Keys of the whole that nobody has looked at. */
  readonly unread: readonly string[]
}

const RETRY_KEYS = ['retry', 'retry_config']
const STEP_KEYS = ['steps', 'tasks', 'commands']
const DEFAULTS_KEY = 'retry_defaults'
const POLICY_KEYS = [...RETRY_KEYS, DEFAULTS_KEY]
/** Words that only a workflow has. */
const WORKFLOW_KEYS = ['name', 'env', 'secrets', 'params', 'breakers', 'claude_program']
const CERTAIN_KEYS = [...STEP_KEYS, 'mode', 'setup', 'map', 'reduce', 'merge', 'error_policy']

/** Whether a file is a workflow, or meant to be one, rather than a policy. */
export function isWorkflow({ value }: Source): boolean {
  // A list of steps that stands alone.
  if (Array.isArray(value)) return value.some(hasFields)
  const has = (keys: readonly string[]): boolean => hasFields(value) && keys.some((key) => Object.hasOwn(value, key))
  return has(CERTAIN_KEYS) || hasMisspeltSteps(value) || (has(WORKFLOW_KEYS) && !has(RETRY_KEYS))
}

/** `step:` or `setps:`, and a list. */
function hasMisspeltSteps(value: unknown): boolean {
  const lists = hasFields(value) ? Object.entries(value).filter(([, item]) => Array.isArray(item)) : []
  return lists.some(([key]) => hintForKey(key, 'workflow') === STEPS_HINT || nearest(key, STEP_KEYS) !== undefined)
}

export function readPolicyFile(source: Source): LonePolicy {
  const whole = wholeOf(source)
  if (source.value === null || source.value === undefined) {
    throw new InputError([
      { file: source.file, message: 'is empty', suggestion: 'a policy is as short as `attempts: 5`' },
    ])
  }
  const findings = new Findings(source)
  const found = readWhole(findings, whole)
  findings.done()
  if (found === undefined) throw new Error('a policy without problems was not read')
  return { ...found, unread: unreadKeys(whole.data) }
}

function unreadKeys(data: unknown): string[] {
  const keys = hasFields(data) ? Object.keys(data) : []
  const isPolicyKey = (key: string): boolean => POLICY_KEYS.includes(key)
  return keys.filter((key) => (keys.some(isPolicyKey) ? !isPolicyKey(key) : key === BUDGETS_KEY))
}

function readWhole(findings: Findings, whole: LocatedValue): NormalizedPolicy | undefined {
  const defaults = fieldOf(findings.source, whole, DEFAULTS_KEY)
  const retry = oneRetry(findings, whole)
  if (defaults === undefined && retry === undefined) {
    const words = [...POLICY_KEYS, ...STEP_KEYS]
    return checkPolicy(findings, whole, { data: withoutFields(whole.data, [BUDGETS_KEY]), words })
  }
  // Each part is checked at its own place; after that the two together can be right only.
  const parts = [defaults, retry].flatMap((located) => located ?? [])
  const [first, second] = parts.map((located) => checkPart(findings, located))
  if (defaults === undefined || retry === undefined || findings.problems.length > 0) return first ?? second
  return checkPolicy(findings, retry, { data: mergeFields(ownData(defaults), ownData(retry)) })
}

/** What to do on failure is for workflows, and no part of a policy. */
function ownData(located: LocatedValue): unknown {
  return withoutFields(located.data, ON_FAILURE_KEYS)
}

function checkPart(findings: Findings, located: LocatedValue): NormalizedPolicy | undefined {
  checkOnFailure(findings, located, shapeCheck(findings))
  return checkPolicy(findings, located, { data: ownData(located) })
}

/** Two names of it at once are a problem. */
function oneRetry(findings: Findings, whole: LocatedValue): LocatedValue | undefined {
  const [first, other] = RETRY_KEYS.flatMap((key) => fieldOf(findings.source, whole, key) ?? [])
  if (other !== undefined) findings.fail(other, `\`${keyOf(first)}\` says the same: keep one of them`, undefined, true)
  return first
}
