import { describe, expect, it } from 'vitest'
import { nearest } from './suggest.js'

const FIELDS = ['attempts', 'max_delay', 'jitter', 'jitter_factor', 'retry_on', 'key']

describe('nearest', () => {
  it.each([
    ['atempts', 'attempts'],
    ['attemptss', 'attempts'],
    ['attenpts', 'attempts'],
    ['attmepts', 'attempts'],
    ['max_dealy', 'max_delay'],
    ['maxDelay', 'max_delay'],
    ['JITTER', 'jitter'],
    ['jiterfactor', 'jitter_factor'],
    ['kye', 'key'],
    ['kez', 'key'],
  ])('takes %s for %s', (word, meant) => {
    expect(nearest(word, FIELDS)).toBe(meant)
  })

  it.each(['', 'colour', 'on', 'xyz', 'maximum_delay_of_all'])('finds nothing near %j', (word) => {
    expect(nearest(word, FIELDS)).toBeUndefined()
  })

  it('prefers the nearer of two, and the first of equally near ones', () => {
    expect(nearest('ratess', ['rated', 'rates'])).toBe('rates')
    expect(nearest('rate', ['rats', 'rata'])).toBe('rats')
  })

  it('takes a word of one letter for no other letter', () => {
    expect(nearest('L', ['w', 'id'])).toBeUndefined()
    expect(nearest('L', ['w', 'l'])).toBe('l')
  })

  it('does not compare words of hostile length', () => {
    const word = 'attempts'.repeat(100_000)
    expect(nearest(word, [word])).toBeUndefined()
  })
})
