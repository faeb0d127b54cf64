import type { Json } from 'reprise/durable'
import { describe, expect, it } from 'vitest'
import { compileExpression } from './expression.js'
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
    ['items.count >', 13, /Unexpected token: EOF/],
    ['items.count > 0 &&& x', 18, /Unexpected/],
    ['', 0, /Unexpected/],
    ['1 + 1', 0, /of type int: compare it/],
    ['"a" > 1', 0, /no such overload/],
    ['nope(items)', 0, /overload|function/i],
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
    ['itmes.count > 0', /there is no `itmes`; did you mean `items`\?/],
    ['items.total > 0', /No such key: total; `has\(…\)` asks whether it is there/],
    ['items.list.total > 0', /No such key: total/],
    ['text.count > 0', /No such key: count; `capture_format: json` makes data/],
    ['steps.count > 0', /No such key: count; `has/],
    ['text > 1', /no such overload/],
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
