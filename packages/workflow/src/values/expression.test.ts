import type { Json } from 'reprise/durable'
import { describe, expect, it } from 'vitest'
import { compileExpression, loadExpressions } from './expression.js'
import { TextError } from './setup-error.js'

const values = {
  items: { count: 3, list: [1, 2.5, 'x', null] },
  rows: [
    { ok: true, id: 1 },
    { ok: false, id: 2 },
  ],
  text: 'some text',
  price: 2,
  half: 0.5,
  none: null,
  env: { REGION: 'eu' },
  steps: { fetch: { exit_code: 0 }, 'a-b': { exit_code: 75 } },
  run: { id: 'r1' },
  // Types, to the language.
  map: { failed: 0 },
  list: [1, 2],
}

describe('a condition', () => {
  it.each([
    ['items.count > 0', true],
    ['rows.count > 1 && rows.size == 2 && rows.length < 3', true],
    ['size(rows) == 2 && rows.size() == 2', true],
    ['(rows).count == 2 && rows . count == 2', true],
    ['rows.filter(r, r.ok).count == 1', true],
    ['items.list.count == 4', true],
    ['price > 1.5 && price == 2 && price == 2.0 && half < 1 && half * 2 == 1.0', true],
    ['price + half == 2.5 && price / 4.0 == half && 1 - half == half', true],
    ['steps.fetch.exit_code == 0', true],
    ['steps["a-b"].exit_code in [75, 111]', true],
    ['env.REGION == "eu" && run.id.startsWith("r")', true],
    ['has(env.MISSING) || none == null', true],
    ['rows.exists(r, r.id == 2 && !r.ok)', true],
    ['rows.all(r, has(r.ok))', true],
    ['rows[1].id == 2', true],
    ['2.5 in items.list', true],
    ['"x" in items.list', true],
    ['text.contains("text") ? false : true', false],
    ['true', true],
    ['has(rows.count)', false],
    ['type(price) == int && type(rows) != map', true],
    ['map.failed == 0 && has(map.failed) && list.count == 2 && 2 in list && list.all(x, x > 0) && list[0] == 1', true],
    ['list.exists(string, string == 2) && size(list) == 2', true],
    ['cel.bind(total, rows.count + 1, total == 3)', true],
  ])('%s is %s', async (text, answer) => {
    expect((await compileExpression(text)).evaluateBoolean(values)).toBe(answer)
  })

  it.each([
    ['items.count >', 13, /^the expression ends where a value is expected$/],
    ['items.count > 0 &&& x', 18, /`&` is not expected here/],
    ['', 0, /the expression ends/],
    ['1 + 1', 0, /^this is a whole number, not true or false$/],
    ['"a" > 1', 0, /`>` does not go with text and a whole number/],
    ['nope(items)', 0, /there is no function `nope`/],
    ['(true', 5, /`\)` is missing before the end/],
    ['price 2', 6, /`2` is not expected here/],
    ['text == "x', 8, /a quote that opens here never ends/],
    ['text.matches("(a+)+b")', 0, /`matches` is not available.*`contains`/],
    ['items["__proto__"].matches("x")', 0, /`matches` is not available/],
    [`${'('.repeat(60)}true${')'.repeat(60)}`, 40, /maxDepth/],
    [`${'true && '.repeat(600)}true`, 2000, /at most 2000 characters/],
  ])('%s is refused when it is read', async (text, offset, message) => {
    const error: unknown = await compileExpression(text).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(TextError)
    expect(error).toMatchObject({ offset, message: expect.stringMatching(message) as string })
  })

  it.each([
    ['price = 2', 6, 'write `==`'],
    ['always()', 0, 'steps of `finally` run however the run ends'],
    ['failure() && true', 0, 'steps of `on_failure` run once the run has failed'],
    ['price === 2', 6, 'write `==`'],
    ['price !== 2', 6, 'write `!=`'],
    ['price <> 2', 6, 'write `!=`'],
    ['price => 2', 6, 'write `>=`'],
    ['text =~ "x"', 5, 'use `contains`, `startsWith` or `endsWith`'],
    ['price > 1 and half < 1', 10, 'write `&&`'],
    ['(price > 1)OR (half < 1)', 11, 'write `||`'],
    ['not (price > 1)', 0, 'write `!`'],
    ['true | false', 5, 'write `||`'],
    ['true & false', 5, 'write `&&`'],
    ['none is null', 5, 'write `==`'],
    ['none is not null', 5, 'write `!=`'],
    ['price not in [1]', 6, 'write `!(… in …)`'],
    ['price -eq 2', 6, 'write `==`'],
    ['price -ge 2', 6, 'write `>=`'],
    ['${items.count} > 2', 0, 'name the value alone: `items.count`'],
    ['$price > 2', 0, 'name the value alone: `price`'],
    ['len(rows) > 1', 0, 'did you mean `size`?'],
    ['rows.lenght() > 1', 0, 'did you mean `size`?'],
    ['text.startswith("x")', 0, 'did you mean `startsWith`?'],
    ['price 2', 6, 'between two values stands an operator: `==`, `&&`, `||`, `+` …'],
    ['"a" == 1', 0, 'write the number in quotes, or make a number of the text: `int(…)`, or `capture_format: number`'],
    ['"a" in "abc"', 0, 'part of a text is asked for with `text.contains(part)`'],
    ['text == "a = b and c" = 1', 22, 'write `==`'],
  ])('%s is refused with its cure', async (text, offset, suggestion) => {
    const error: unknown = await compileExpression(text).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(TextError)
    expect(error).toMatchObject({ offset, suggestion })
  })

  it('knows which names it compares with a number', async () => {
    const text = 'price > 1 && -2 <= half && text == "x" && rows.count > 1 && rows.all(r, r.id > 0) && env.N != 1.5'
    expect((await compileExpression(text)).numeric).toEqual(['price', 'half', 'env.N'])
  })

  it.each([
    ['itmes.count > 0', /there is no `itmes`; did you mean `items`\?/],
    ['items.total > 0', /No such key: total; `has\(…\)` asks whether it is there/],
    ['items.list.total > 0', /No such key: total/],
    ['text.count > 0', /No such key: count; `capture_format: json` makes data/],
    ['steps.count > 0', /No such key: count; `has/],
    ['text > 1', /`>` does not go with text and a whole number; write the number in quotes, or/],
    ['text && true', /`&&` and `\|\|` join what is true or false, and this is text/],
    ['!text', /`!` stands before what is true or false, and this is text; compare it/],
    ['items.count', /is a number, not true or false: compare it, as in `… > 0`/],
    ['items', /is an object, not true or false/],
    ['rows', /is a list, not/],
    ['text', /is text, not/],
    ['price / 0 > 1', /division by zero/],
    ['rows[7].ok', /out of bounds/],
  ])('%s fails clearly when it is asked', async (text, message) => {
    const expression = await compileExpression(text)
    expect(() => expression.evaluateBoolean(values)).toThrow(message)
    expect(() => expression.evaluateBoolean(values)).toThrow(`\`${text}\``)
  })

  it('tells which values it names', async () => {
    const text =
      'items.list.all(x, x > y.z) && steps["a-b"].exit_code == l[0] && has(q.r) && size(s) > int("1") && rows.exists(q, has(q.b))'
    expect((await compileExpression(text)).names).toEqual([
      'items.list',
      'y.z',
      'steps["a-b"].exit_code',
      'l[0]',
      'q.r',
      's',
      'rows',
    ])
  })

  it('never reaches a prototype, and a key of such a name is a key', async () => {
    for (const text of ['items.constructor == 1', 'items.__proto__ == 1', 'text.length > 1', 'rows.constructor == 1']) {
      const expression = await compileExpression(text)
      expect(() => expression.evaluateBoolean(values), text).toThrow(/No such key/)
    }
    const own = JSON.parse('{"items": {"__proto__": {"x": 1}, "constructor": 2}}') as Record<string, Json>
    const expression = await compileExpression('items.__proto__.x == 1 && items.constructor == 2')
    expect(expression.evaluateBoolean(own)).toBe(true)
    const missing = await compileExpression('toString == 1')
    expect(() => missing.evaluateBoolean({})).toThrow(/there is no `toString`/)
  })

  it('loops within loops over long lists are refused rather than waited for', async () => {
    const list = Array.from({ length: 5000 }, (_, n) => n)
    const nested = await compileExpression('list.all(a, list.all(b, a != b || a in list))')
    expect(() => nested.evaluateBoolean({ list })).toThrow(/goes through 5000 items 3 loops deep/)
    expect(nested.evaluateBoolean({ list: [1, 2] })).toBe(true)
    const flat = await compileExpression('list.all(a, a >= 0) && 4999 in list')
    expect(flat.evaluateBoolean({ list })).toBe(true)
  })
})

it.each([
  ['item.a', { a: 1 }, 1],
  ['item.a.b', { a: { b: [1, { c: 1.5 }] } }, [1, { c: 1.5 }]],
  ['item.a.b', { a: 1 }, undefined],
  ['item.a', 'text', undefined],
  ['item[0]', [], undefined],
  ['item.count', [1, 2], 2],
  ['size(item)', 'abc', 3],
  ['item', null, null],
  ['{"a": [item, item + 1]}', 3, { a: [3, 4] }],
] as const)('the value of `%s` for %j is %j; a key that is missing has none', async (text, item, expected) => {
  const expressions = await loadExpressions()
  expect(expressions.compileValue(text).evaluate({ item })).toEqual(expected)
})

it('a value that fails, or is no JSON, is refused', async () => {
  const expressions = await loadExpressions()
  expect(() => expressions.compileValue('item + 1').evaluate({ item: 'x' })).toThrow(
    '`+` does not go with text and a whole number',
  )
  expect(() => expressions.compileValue('duration("3s")').evaluate({})).toThrow(
    '`duration("3s")` is neither text, a number',
  )
  expect(() => expressions.compileValue('itm').evaluate({ item: 1 })).toThrow('did you mean `item`?')
  expect(() => expressions.compileValue('item +')).toThrow('the expression ends where a value is expected')
})
