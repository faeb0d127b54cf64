import { describe, expect, it } from 'vitest'
import { OptionsError } from './errors.js'
import { virtualClock } from '../testing/virtual-clock.js'
import { CLOCK, durationCheck, expectOptions, FLAG, type OptionCheck, optionProblems } from './options.js'

const CHECKS = {
  count: [Number.isInteger, 'a whole number'],
  force: [(value: unknown) => typeof value === 'boolean', 'true or false'],
} as const
const OTHERS = { others: ['clock'] }

describe('options', () => {
  it.each([{}, { count: 1 }, { count: 1, force: false }, { count: undefined }, { clock: 'checked elsewhere' }])(
    'are fine: %j',
    (options) => {
      expect(optionProblems(options, CHECKS, OTHERS)).toEqual([])
      expect(() => expectOptions('work', options, CHECKS, OTHERS)).not.toThrow()
    },
  )

  it('are refused with every problem, its place and what was meant', () => {
    const problems = optionProblems({ count: 1.5, forse: true, other: 1, toString: 1 }, CHECKS, OTHERS)
    expect(problems).toEqual([
      { path: 'count', message: '1.5 is not a whole number' },
      { path: 'forse', message: 'unknown option', suggestion: 'did you mean `force`?' },
      { path: 'other', message: 'unknown option' },
      { path: 'toString', message: 'unknown option' },
    ])
  })

  it('are refused where one is missing that must be given', () => {
    const names = { required: ['count'] }
    const missing = [{ path: 'count', message: 'is missing: say a whole number' }]
    expect(optionProblems({ force: true }, CHECKS, names)).toEqual(missing)
    expect(optionProblems({ count: undefined }, CHECKS, names)).toEqual(missing)
    expect(optionProblems({ count: 'x' }, CHECKS, names)).toEqual([
      { path: 'count', message: '"x" is not a whole number' },
    ])
  })

  it.each([null, undefined, 5, 'x', []])('must be an object: %j', (options) => {
    expect(optionProblems(options, CHECKS)).toMatchObject([
      { path: '', message: expect.stringMatching(/ is not an object with count, force$/) },
    ])
  })

  it('are named in the error with the function they are of', () => {
    const refused = (): void => expectOptions('work', { forse: true, count: 'x' }, CHECKS)
    expect(refused).toThrow(OptionsError)
    expect(refused).toThrow(
      'Invalid options of work: forse: unknown option (did you mean `force`?); count: "x" is not a whole number',
    )
  })
})

describe('the check of an option', () => {
  it.each<[string, OptionCheck, readonly unknown[], readonly unknown[]]>([
    ['a flag', FLAG, [true, false], [0, 'true', null]],
    ['a duration', durationCheck('a duration'), [0, 5, '5s'], [-1, '5', null, Number.NaN]],
    ['a duration within bounds', durationCheck('a duration', 100, 1000), [100, '1s'], [99, '1001ms', 'soon']],
    [
      'a clock',
      CLOCK,
      [virtualClock()],
      [Date.now, null, {}, { wallMs: Date.now, monotonicMs: Date.now, schedule: 1, cancel: () => undefined }],
    ],
  ])('that is %s takes nothing else', (_name, [isValid], right, wrong) => {
    expect(right.filter((value) => !isValid(value))).toEqual([])
    expect(wrong.filter((value) => isValid(value))).toEqual([])
  })
})
