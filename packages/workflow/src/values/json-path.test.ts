import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { describe, expect, it, test } from 'vitest'
import type { Json } from 'reprise/durable'
import { compileJsonPath } from './json-path.js'
import { plainPathOf } from './plain-path.js'
import { TextError } from './setup-error.js'

interface SuiteCase {
  readonly name: string
  readonly selector: string
  readonly document?: Json
  readonly result?: readonly Json[]
  readonly results?: readonly (readonly Json[])[]
  readonly invalid_selector?: boolean
}

/** The JSONPath Compliance Test Suite has no package of its own; this one carries a copy. */
const carrier = path.dirname(createRequire(import.meta.url).resolve('jsonpath-rfc9535/package.json'))
const suite = path.join(carrier, 'src/__tests__/jsonpath-compliance-test-suite/cts.json')
const { tests } = JSON.parse(readFileSync(suite, 'utf8')) as { readonly tests: readonly SuiteCase[] }

function outcomeOf({ selector, document = null }: SuiteCase): readonly Json[] | 'invalid' {
  try {
    return compileJsonPath(selector).select(document)
  } catch (error) {
    expect(error).toBeInstanceOf(TextError)
    return 'invalid'
  }
}

function failureOf(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}

describe('the JSONPath Compliance Test Suite', () => {
  test('is there, with all of its cases', () => {
    expect(tests.length).toBeGreaterThan(600)
  })

  test.each(tests)('$name', (given) => {
    const outcome = outcomeOf(given)
    if (given.invalid_selector) expect(outcome).toBe('invalid')
    else expect(given.results ?? [given.result]).toContainEqual(outcome)
  })
})

describe('a path', () => {
  it.each([
    ['$.orders[', 9, 'it ends too early'],
    ['orders[*]', 0, 'unexpected "o"'],
    ['$.orders[1', 10, 'it ends too early'],
    ['$.orders.', 9, 'behind a dot stands a name or `*`'],
    ['$[?@.a = 1]', 7, 'unexpected "="'],
    ['$[?length(@.a)]', 3, 'this is a value: compare it, as in `… == 1`'],
    ['$[?@.* == 1]', 3, 'this may be several values'],
    ['$[?len(@.a) > 1]', 3, 'there is no function `len`, only length, count, value, match, search'],
    ['$[?(@.a]', 7, 'a parenthesis is not closed'],
    ['$[99999999999999999999]', 2, 'the number is too large'],
    [`$[?${'('.repeat(1900)}`, 0, ''],
    [`$${'.a'.repeat(1000)}`, 2000, 'a path has at most 2000 characters'],
  ])('%s that is none says where and why', (written, offset, why) => {
    const failure = failureOf(() => compileJsonPath(written))
    expect(failure).toBeInstanceOf(TextError)
    expect(failure).toMatchObject({ code: 'invalid_text', retryable: false })
    expect(String(failure)).toContain(why)
    if (why !== '') expect(failure).toMatchObject({ offset })
  })

  it('that does not begin as one has a suggestion', () => {
    const failure = failureOf(() => compileJsonPath('orders[*]'))
    expect(failure).toMatchObject({ suggestion: 'a path begins with `$`, as in `$.orders[*]`' })
  })

  it('with a pattern that takes the engine minutes answers at once', () => {
    const match = compileJsonPath("$[?match(@, '(a|a|aa)*b')]")
    expect(match.select(['a'.repeat(5000), `${'a'.repeat(5000)}b`])).toHaveLength(1)
  })

  it('selects keys such as `__proto__` and `constructor` only if they are there', () => {
    const document = JSON.parse('[{"__proto__": 1}, {}]') as Json
    expect(compileJsonPath('$[*].__proto__').select(document)).toEqual([1])
    expect(compileJsonPath('$[*].constructor').select(document)).toEqual([])
  })

  it('over a document that is nested very deep is refused', () => {
    const deep = JSON.parse('['.repeat(50_000) + ']'.repeat(50_000)) as Json
    expect(() => compileJsonPath('$..a').select(deep)).toThrow('nested too deep')
    expect(compileJsonPath('$[0][0]').select(deep)).toHaveLength(1)
  })

  it.each([
    ['$[*]', []],
    ['$.*', []],
    ['$.orders[*]', ['orders']],
    ['$.a.b.*', ['a', 'b']],
    [`$['my orders']["x.y"][*]`, ['my orders', 'x.y']],
    ['$.größe[*]', ['größe']],
  ])('of names and all elements, %s, is read as a stream', (written, names) => {
    expect(plainPathOf(written)).toEqual(names)
  })

  it.each(['$', '$.a', '$.a[0]', '$..a[*]', '$[*][*]', '$.a[?@.b]', '$.1a[*]', 'a[*]', '$ [*]', "$['\\n'][*]"])(
    'of another form, %s, is not',
    (written) => {
      expect(plainPathOf(written)).toBeNull()
    },
  )
})
