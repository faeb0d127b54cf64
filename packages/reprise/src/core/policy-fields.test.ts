import { describe, expect, it } from 'vitest'
import type { PolicyError } from './errors.js'
import { normalizePolicy } from './normalize.js'
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

  it('says what each means and what it is by default', () => {
    expect(POLICY_FIELDS.every(({ meaning, default: text }) => meaning.endsWith('.') && text !== '')).toBe(true)
  })
})
