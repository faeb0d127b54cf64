import { normalizePolicy, type Policy, type PolicyError } from 'reprise'
import { describe, expect, it, test } from 'vitest'
import { defaultText, nameInFiles, POLICY_FIELDS } from './policy-fields.js'

/** Those that stand in a policy or in a part of it as one value; a matcher is an item of a list. */
const single = POLICY_FIELDS.filter(({ name }) => !/^retryOn\.|^hedge\.budget\./.test(name))

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

/** A policy with this value in the field, and with nothing else but what the field needs beside it. */
function policyAround(path: string, value: unknown): object {
  const [first = '', second, third] = path.split('.')
  if (second === undefined) return { [first]: value }
  if (third !== undefined) return { [first]: { delay: '1s', [second]: { name: 'api', [third]: value } } }
  if (first === 'retry_on') return { [first]: [{ [second]: value }] }
  const beside = ['delays', 'formula'].includes(second) ? { type: 'custom' } : (PARTS[path] ?? PARTS[first])
  return { [first]: { ...(!['delay', 'percentile'].includes(second) && beside), [second]: value } }
}

describe('the table of policy fields', () => {
  it('lists only fields that are known, in both spellings', () => {
    const unknown = single.flatMap((field) => [...unknownIn(field.name), ...unknownIn(nameInFiles(field))])
    expect(unknown).toEqual([])
    expect(unknownIn('breaker.nonsense')).toEqual(['breaker.nonsense'])
  })

  it('lists every field of a policy, once', () => {
    const names = (policy: object): string[] => Object.keys(policy).map((name) => name.replace(/Ms$/, ''))
    const { policy } = normalizePolicy({ breaker: {}, budget: 'a', hedge: { delay: 1 } })
    const listed = POLICY_FIELDS.map(({ name }) => name)
    const nested = (part: 'breaker' | 'budget' | 'hedge') => names(policy[part] ?? {}).map((name) => `${part}.${name}`)
    const all = [...names(policy), ...nested('breaker'), ...nested('budget'), ...nested('hedge')]
    expect(all.filter((name) => !listed.includes(name))).toEqual(['hedge.shareBudget'])
    expect(new Set(listed).size).toBe(listed.length)
  })

  it('has sentences', () => {
    const isSentence = (text: string): boolean => /^[A-Z`].*\.$/s.test(text)
    const sentences = POLICY_FIELDS.flatMap(({ doc, note, inStep }) => [doc, note, inStep?.doc, inStep?.note])
    expect(sentences.filter((text) => text !== undefined && text !== '' && !isSentence(text))).toEqual([])
  })

  test.each(single.filter(({ isRequired }) => isRequired !== true))(
    "the default of $name is the library's: writing it changes nothing",
    (field) => {
      const { name, default: value, absent } = field
      if (value !== undefined) {
        expect(policyWith(nameInFiles(field), value)).toEqual(policyWith(nameInFiles(field)))
        expect(policyWith(name, value)).toEqual(policyWith(name))
      } else if (absent === 'the initial delay') {
        const { initialDelayMs } = normalizePolicy({}).policy
        expect(policyWith(name, initialDelayMs)).toEqual(policyWith(name))
      } else {
        expect(valueAt(name)).toBeUndefined()
      }
    },
  )

  it('says what holds where a field is left out that need not be given', () => {
    const missing = POLICY_FIELDS.filter((field) => (defaultText(field) === undefined) !== (field.isRequired === true))
    expect(missing).toEqual([])
  })

  test.each(POLICY_FIELDS.flatMap((field) => field.examples.map((example) => ({ name: nameInFiles(field), example }))))(
    '$name: $example is right',
    ({ name, example }) => {
      expect(() => normalizePolicy(policyAround(name, example), { needsUnits: true })).not.toThrow()
    },
  )
})
