import { describe, expect, it } from 'vitest'
import type { PolicyError } from './errors.js'
import { normalizePolicy } from './normalize.js'
import type { Policy } from './policy.js'
import { POLICY_FIELDS } from './policy-fields.js'

/** Paths of the fields that a policy with this one field, holding nonsense, is told not to know. */
function unknownIn(path: string): string[] {
  const [first = '', second] = path.split('.')
  const strategy = { increment: 'linear', base: 'exponential', delays: 'custom', formula: 'custom' }[second ?? '']
  const nested = { ...(strategy !== undefined && { type: strategy }), [second ?? '']: Symbol('nonsense') }
  try {
    normalizePolicy({ [first]: second === undefined ? Symbol('nonsense') : nested })
  } catch (error) {
    return (error as PolicyError).problems.filter(({ message }) => message === 'unknown field').map((one) => one.path)
  }
  throw new Error(`nonsense was accepted as ${path}`)
}

/** What a part must hold so that it may be written without the field in question. */
const PARTS: Readonly<Record<string, object>> = {
  'backoff.increment': { type: 'linear' },
  'backoff.base': { type: 'exponential' },
  'budget.cost': { name: 'api' },
  'hedge.delay': { percentile: 95 },
  hedge: { delay: '1s' },
}

/** Default texts of fields that have no value unless one is written. */
const NOTHING = ['none', 'the key of the call']

/** The policy that has nothing but this field, or nothing but the part around it. */
function policyWith(path: string, ...values: readonly unknown[]): Policy {
  const [first = '', second] = path.split('.')
  const part = PARTS[path] ?? PARTS[first]
  if (second === undefined) return normalizePolicy(values.length === 0 ? {} : { [first]: values[0] }).policy
  return normalizePolicy({ [first]: { ...part, ...(values.length > 0 && { [second]: values[0] }) } }).policy
}

/** What the field is where it is not written; undefined also where its whole part is absent by default. */
function valueAt(path: string): unknown {
  const [first = '', second] = path.split('.')
  const isPart = second !== undefined && ['breaker', 'hedge'].includes(first)
  const fields = Object.entries(isPart ? policyWith(path) : normalizePolicy({}).policy)
  const valueOf = (entries: [string, unknown][], name: string): unknown =>
    entries.find(([key]) => key === name || key === `${name}Ms`)?.[1]
  const outer = valueOf(fields, first)
  return second === undefined ? outer : valueOf(Object.entries(outer ?? {}), second)
}

/** A default as a policy would write it: `3`, `false`, `[]`, or a word or duration. */
function written(text: string): unknown {
  const bare = text.replaceAll('`', '')
  try {
    return JSON.parse(bare)
  } catch {
    return bare
  }
}

describe('the reference of fields', () => {
  it('lists only fields that are known, in both spellings', () => {
    expect(POLICY_FIELDS.flatMap(({ yaml, typescript }) => [...unknownIn(yaml), ...unknownIn(typescript)])).toEqual([])
    expect(unknownIn('breaker.nonsense')).toEqual(['breaker.nonsense'])
  })

  it('lists every field of a policy that a file can hold, once', () => {
    const names = (policy: object): string[] => Object.keys(policy).map((name) => name.replace(/Ms$/, ''))
    const { policy } = normalizePolicy({ breaker: {}, budget: 'a', hedge: { delay: 1 } })
    const listed = POLICY_FIELDS.map(({ typescript }) => typescript)
    const nested = (part: 'breaker' | 'budget' | 'hedge') => names(policy[part] ?? {}).map((name) => `${part}.${name}`)
    const all = [...names(policy), ...nested('breaker'), ...nested('budget'), ...nested('hedge')]
    expect(all.filter((name) => !listed.includes(name))).toEqual(['failIf', 'hedge.shareBudget'])
    expect(new Set(listed).size).toBe(listed.length)
  })

  it('says what each means', () => {
    expect(POLICY_FIELDS.filter(({ meaning }) => !meaning.endsWith('.'))).toEqual([])
  })

  it.each(POLICY_FIELDS)('names the default of $typescript: writing it changes nothing', (field) => {
    const [text = ''] = field.default.split(';')
    if (NOTHING.includes(text)) {
      expect(valueAt(field.typescript)).toBeUndefined()
    } else {
      const value = text === 'the initial delay' ? normalizePolicy({}).policy.initialDelayMs : written(text)
      expect(policyWith(field.yaml, value)).toEqual(policyWith(field.yaml))
      expect(policyWith(field.typescript, value)).toEqual(policyWith(field.typescript))
    }
  })
})
