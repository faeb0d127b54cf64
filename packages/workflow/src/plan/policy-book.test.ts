/** Policies that steps share. */
import { expect, it } from 'vitest'
import { PolicyBook } from './policy-book.js'

const SHARED = { api: { failureThreshold: 5, key: 'api' } }

it('steps that say the same have one policy, whatever the order in which it is asked for', () => {
  const book = new PolicyBook({ max_delay: '5s' }, {})
  const first = book.of({ retry: { attempts: 4 }, attempt_timeout: '3s' }, 'w/a')
  const other = book.of({ retry: { attempts: 5 }, attempt_timeout: '3s' }, 'w/b')
  expect(book.of({ retry: { attempts: 4 }, attempt_timeout: '3s' }, 'w/c')).toBe(first)
  expect(first.policy).toEqual({ maxDelay: '5s', attempts: 4, attemptTimeout: '3s' })
  expect(other.policy).toEqual({ maxDelay: '5s', attempts: 5, attemptTimeout: '3s' })
})

it('what a step says of its failure and of its limit makes another one', () => {
  const book = new PolicyBook(undefined, {})
  const plain = book.of({}, 'w/a')
  expect(plain).toEqual({ policy: { attempts: 1 }, onFailure: 'stop' })
  expect(book.of({ attempt_timeout: '1s' }, 'w/b').policy).toEqual({ attempts: 1, attemptTimeout: '1s' })
  expect(book.of({ retry: { on_failure: 'continue' } }, 'w/c').onFailure).toBe('continue')
})

it('a declared breaker is shared, and a breaker of its own is not', () => {
  const book = new PolicyBook(undefined, SHARED)
  const declared = book.of({ retry: { attempts: 2, breaker: 'api' } }, 'w/a')
  expect(book.of({ retry: { attempts: 2, breaker: 'api' } }, 'w/b')).toBe(declared)
  const own = { retry: { attempts: 2, breaker: { failure_threshold: 3 } } }
  expect(book.of(own, 'w/a').policy.breaker).toEqual({ failureThreshold: 3, key: 'w/a' })
  expect(book.of(own, 'w/b').policy.breaker).toEqual({ failureThreshold: 3, key: 'w/b' })
})
