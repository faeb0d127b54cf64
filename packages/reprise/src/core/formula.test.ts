import { describe, expect, it } from 'vitest'
import { compileFormula } from './formula.js'

const VALUES = { attempt: 3, initial: 1000, max: 30_000, previous: 400 }

function evaluate(text: string): number {
  const formula = compileFormula(text)
  if (typeof formula !== 'function') throw new Error(formula.problem)
  return formula(VALUES)
}

describe('compileFormula', () => {
  it.each([
    ['initial * attempt ^ 2', 9000],
    ['initial*attempt^2', 9000],
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['10 - 4 - 3', 3],
    ['100 / 10 / 5', 2],
    ['17 % 10 % 4', 3],
    ['2 ^ 3 ^ 2', 512],
    ['-2 ^ 2', -4],
    ['2 ^ -1', 0.5],
    ['2 * -3', -6],
    ['--5', 5],
    ['-attempt + 1', -2],
    ['1.5 * 2', 3],
    ['max - previous', 29_600],
    ['  ( previous )\n', 400],
    ['1 / 0', Infinity],
  ])('computes %s', (text, value) => {
    expect(evaluate(text)).toBe(value)
  })

  it.each([
    ['', 0, 'unexpected end: expected a number or one of attempt, initial, max, previous'],
    ['1 +', 3, 'unexpected end: expected a number'],
    ['* 2', 0, 'unexpected *: expected a number'],
    ['1 2', 2, 'unexpected 2: expected an operator'],
    ['(1', 2, 'unexpected end: expected a closing parenthesis'],
    ['(1 2)', 3, 'unexpected 2: expected a closing parenthesis'],
    ['1)', 1, 'unexpected ): expected an operator'],
    ['atempt', 0, 'unexpected atempt: expected a number'],
    ['constructor', 0, 'unexpected constructor: expected'],
    ['1 constructor 2', 2, 'unexpected constructor: expected an operator'],
    ['__proto__', 0, 'unexpected __proto__: expected'],
    ['attempt ** 2', 9, 'unexpected *: expected a number'],
    ['Math.sqrt(4)', 0, 'unexpected Math: expected'],
    ['process.exit()', 0, 'unexpected process: expected'],
    ['1;2', 1, 'unexpected ;: expected an operator'],
    ['.5', 0, 'unexpected .: expected a number'],
    ['1e400', 1, 'unexpected e400: expected an operator'],
  ])('says where %j goes wrong', (text, at, problem) => {
    expect(compileFormula(text)).toEqual({ at, problem: expect.stringContaining(problem) as string })
  })

  it('refuses a text of more than 500 characters', () => {
    expect(evaluate('1'.repeat(100) + '+1'.repeat(200))).toBeGreaterThan(1e99)
    expect(compileFormula('1+'.repeat(250) + '1')).toEqual({ problem: 'longer than 500 characters', at: 500 })
  })

  it.each(['(', '-', '2^', '1+('])('refuses %j nested more than 64 deep, and takes it less deep', (opening) => {
    const closing = opening.endsWith('(') ? ')' : ''
    const nested = (depth: number): string => opening.repeat(depth) + '1' + closing.repeat(depth)
    expect(compileFormula(nested(30))).toBeTypeOf('function')
    expect(compileFormula(nested(100))).toEqual(
      expect.objectContaining({ problem: expect.stringContaining('64 levels') as string }),
    )
  })
})
