/**
 * The policies in a file. It is one of three: the fields of a policy; something with `retry:`, `retry_defaults:` or both;
 * a workflow, that is, a list of steps, each with `retry:` or not, and `retry_defaults` for all.
 *
 * Budgets are defined beside them, under `budgets:`, and read elsewhere.
 *
 * Invariants: every problem of the file is told at once, whichever step is asked for; defaults are merged field by field,
 * `retry` before defaults before built-in. Imports the library and the source.
 */
import { type NormalizedPolicy, normalizePolicy, PolicyError } from 'reprise'
import { byPlace, InputError, type Problem } from './problem.js'
import { helpFor } from './field-help.js'
import { mergeFields, withoutField } from './policy-data.js'
import { BUDGETS_KEY } from './budget-section.js'
import type { Source } from './source.js'
import { fieldOf, follow, hasFields, itemsOf, problemOf, type Spot, wholeOf } from './spot.js'
import { meantAs, remarkOnSteps } from './step-remarks.js'

export interface FoundPolicy extends NormalizedPolicy {
  /** Id, name or position of the step; null for a policy that stands alone. */
  readonly step: string | null
  /** What is odd in how the step is written. */
  readonly remarks: readonly string[]
}

export interface PolicyFile {
  readonly isWorkflow: boolean
  readonly policies: readonly FoundPolicy[]
  /** Keys of the whole that nobody has looked at, and that somebody may have meant for us. */
  readonly unread: readonly string[]
}

const RETRY_KEYS = ['retry', 'retry_config'] as const
const STEP_KEYS = ['steps', 'tasks', 'commands'] as const
const DEFAULTS_KEY = 'retry_defaults'
const POLICY_KEYS: readonly string[] = [...RETRY_KEYS, DEFAULTS_KEY]

export function readPolicies(source: Source): PolicyFile {
  const whole = wholeOf(source)
  if (source.root === null || source.value === null) {
    throw new InputError([
      { file: source.file, message: 'is empty', suggestion: 'a policy is as short as `attempts: 5`' },
    ])
  }
  const reader = new Reader(source)
  const isWorkflow = STEP_KEYS.some((key) => fieldOf(source, whole, key) !== undefined)
  const policies = isWorkflow ? reader.workflow(whole) : reader.single(whole)
  if (reader.problems.length > 0) throw new InputError(reader.problems.toSorted(byPlace), source.text)
  return { isWorkflow, policies, unread: unreadKeys(whole.data, isWorkflow) }
}

/** Of a workflow most keys are not ours; beside a policy all are worth a word. */
function unreadKeys(data: unknown, isWorkflow: boolean): string[] {
  const keys = hasFields(data) ? Object.keys(data) : []
  if (isWorkflow) return keys.filter((key) => key !== DEFAULTS_KEY && meantAs(key, POLICY_KEYS) !== undefined)
  const isPolicyKey = (key: string): boolean => POLICY_KEYS.includes(key)
  return keys.filter((key) => (keys.some(isPolicyKey) ? !isPolicyKey(key) : key === BUDGETS_KEY))
}

class Reader {
  readonly problems: Problem[] = []
  private readonly source: Source

  constructor(source: Source) {
    this.source = source
  }

  single(whole: Spot): FoundPolicy[] {
    const defaults = this.defaults(whole)
    const retry = this.oneOf(whole, RETRY_KEYS)
    if (defaults === undefined && retry === undefined) {
      return this.normalize(whole, withoutField(whole.data, BUDGETS_KEY), null)
    }
    const own = retry === undefined ? [] : this.normalize(retry, retry.data, null)
    if (defaults === undefined) return own
    const data = this.policyData(defaults)
    return this.merged(retry ?? defaults, retry === undefined ? data : mergeFields(data, retry.data), null)
  }

  workflow(whole: Spot): FoundPolicy[] {
    const defaults = this.defaults(whole)
    const steps = this.oneOf(whole, STEP_KEYS)
    if (!Array.isArray(steps?.data) || steps.data.length === 0) {
      this.problems.push(problemOf(this.source, steps ?? whole, 'needs a list of one step or more'))
      return []
    }
    const items = itemsOf(this.source, steps)
    const names = items.map(({ data }, index) => nameOf(data) ?? String(index + 1))
    const remarks = remarkOnSteps(steps.data, names, RETRY_KEYS)
    return items.flatMap((step, index) =>
      this.step(step, names[index] ?? '', defaults).map((found) => ({ ...found, remarks: remarks[index] ?? [] })),
    )
  }

  private defaults(whole: Spot): Spot | undefined {
    const defaults = fieldOf(this.source, whole, DEFAULTS_KEY)
    if (defaults !== undefined) this.normalize(this.checked(defaults), this.policyData(defaults), null)
    return defaults
  }

  private step(step: Spot, name: string, defaults: Spot | undefined): FoundPolicy[] {
    const retry = this.oneOf(step, RETRY_KEYS)
    if (retry === undefined && defaults === undefined) return [{ step: name, remarks: [], ...normalizePolicy(false) }]
    if (retry === undefined) return this.merged(step, this.policyData(defaults), name)
    const data = this.policyData(retry)
    if (this.normalize(this.checked(retry), data, name).length === 0) return []
    return this.merged(retry, defaults === undefined ? data : mergeFields(this.policyData(defaults), data), name)
  }

  /** Both parts have been checked, each at its own place: what is wrong here has been said. */
  private merged(spot: Spot, data: unknown, step: string | null): FoundPolicy[] {
    return this.problems.length > 0 ? [] : this.normalize(spot, data, step)
  }

  private normalize(spot: Spot, data: unknown, step: string | null): FoundPolicy[] {
    try {
      return [{ step, remarks: [], ...normalizePolicy(data, { needsUnits: true }) }]
    } catch (error) {
      if (!(error instanceof PolicyError)) throw error
      const told = new Set<string>()
      for (const problem of error.problems) {
        const place = follow(this.source, spot, problem.path)
        const help = helpFor(problem, {
          value: place.data,
          policy: data,
          words: spot.path === '' ? [...POLICY_KEYS, ...STEP_KEYS] : [],
          isJson: /^\s*{\s*"/.test(this.source.text),
        })
        // Two problems of one value have one cure.
        const hint = help === undefined || told.has(place.path + help) ? undefined : help
        told.add(place.path + (help ?? ''))
        this.problems.push(problemOf(this.source, place, problem.message, hint, problem.message === 'unknown field'))
      }
      return []
    }
  }

  /** What a workflow cannot have, though a policy can. */
  private checked(retry: Spot): Spot {
    const hedge = fieldOf(this.source, retry, 'hedge')
    if (hedge !== undefined) {
      this.problems.push(
        problemOf(this.source, hedge, 'a workflow cannot hedge', 'hedges live within one process', true),
      )
    }
    return retry
  }

  /** Of a step's `retry`, what is the policy's: the action on failure is the workflow's. */
  private policyData(retry: Spot | undefined): unknown {
    return withoutField(retry?.data, 'on_failure')
  }

  /** The field that goes by one of these names; two of them at once are a problem. */
  private oneOf(spot: Spot, keys: readonly string[]): Spot | undefined {
    const [first, ...others] = keys.flatMap((key) => fieldOf(this.source, spot, key) ?? [])
    for (const other of others) {
      const names = `\`${first?.path.replace(/.*\./, '')}\` says the same`
      this.problems.push(problemOf(this.source, other, `${names}: keep one of them`, undefined, true))
    }
    return first
  }
}

function nameOf(step: unknown): string | undefined {
  if (!hasFields(step)) return undefined
  const named = ['id', 'name'].filter((key) => Object.hasOwn(step, key)).map((key) => step[key])
  const name = named.find((value) => typeof value === 'string' || typeof value === 'number')
  return name === undefined ? undefined : String(name)
}
