import fc from 'fast-check'
import type { Json } from 'reprise/durable'
import { describe, expect, it } from 'vitest'
import { SetupError, TextError } from './setup-error.js'
import { fillJson, fillTemplate, fillText, parseTemplate, referencesInJson } from './template.js'

const values = {
  name: 'x',
  n: 7,
  half: 0.5,
  yes: true,
  none: null,
  list: ['a', { b: 2 }],
  item: { id: 7, 'a-b': 'dashed', 'any key': 'spaced', __proto__: null, size: 3 },
  env: { HOME: '/h' },
  steps: { fetch: { exit_code: 0 }, 'v1.2': { exit_code: 3 }, v1: { other: 1 } },
  run: { id: 'r1' },
}

describe('a text with references', () => {
  it.each([
    ['plain', 'plain'],
    ['', ''],
    ['${name}', 'x'],
    ['a ${name} b${n}c', 'a x b7c'],
    ['${half} ${yes} [${none}]', '0.5 true []'],
    ['${list} ${item.id}', '["a",{"b":2}] 7'],
    ['${list[0]} ${list[1].b} ${list.0}', 'a 2 a'],
    ['${list.count} ${list.size} ${list.length} ${item.size}', '2 2 2 3'],
    ['${item.a-b} ${item["any key"]} ${item[\'id\']}', 'dashed spaced 7'],
    ['${env.HOME} ${steps.fetch.exit_code} ${run.id}', '/h 0 r1'],
    ['${steps.v1.2.exit_code} ${steps["v1.2"].exit_code} ${steps.v1.other}', '3 3 1'],
    ['$${name} $$ $ {name} $name $${', '${name} $$ $ {name} $name ${'],
    ['$$${name}', '$${name}'],
  ])('%s is filled in as %s', (text, filled) => {
    expect(fillText(text, values)).toBe(filled)
  })

  it.each([
    ['a ${', 4, /no closing brace; a literal `\$\{` is written `\$\$\{`/],
    ['${name', 6, /no closing brace/],
    ['${}', 2, /`\$\{\}` names nothing/],
    ['${ name }', 2, /cannot be read at " "/],
    ['x ${name:-y}', 8, /cannot be read at ":"/],
    ['${a..b}', 3, /cannot be read at "\."/],
    ['${1a}', 2, /cannot be read at "1"/],
    ['${a[x]}', 3, /cannot be read at "\["/],
    ['ab ${{ raw }}', 3, /`\$\{\{ … \}\}` does not exist: write `\$\{name\}`/],
  ])('%s is refused with the place', (text, offset, message) => {
    let error: unknown
    try {
      parseTemplate(text)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(TextError)
    expect(error).toMatchObject({ offset, retryable: false, message: expect.stringMatching(message) as string })
  })

  it.each([
    [
      '${nmae}',
      'there is no `nmae`; did you mean `name`? (there is: env, half, item, list, n, name, none, run, steps, yes)',
    ],
    ['${steps.fetsh.exit_code}', '`steps` has no `fetsh`; did you mean `fetch`? (there is: fetch, v1, v1.2)'],
    ['${list[5]}', '`list` is a list of 2 and has no [5]'],
    ['${list.first}', '`list` is a list of 2 and has no `first`'],
    ['${name.id}', '`name` is text and has no `id`; `capture_format: json` makes data of a captured text'],
    ['${none.id}', '`none` is null and has no `id`'],
    ['${n.id.x}', '`n` is a number and has no `id`'],
  ])('%s says what is there instead', (text, said) => {
    expect(() => fillText(text, values)).toThrow(new SetupError('missing_value', `\`${text}\`: ${said}`))
  })

  it('never follows a prototype', () => {
    for (const path of [
      'constructor',
      '__proto__',
      'item.constructor.name',
      'item.__proto__.x',
      'list.constructor',
      'name.length',
    ]) {
      expect(() => fillText(`\${${path}}`, values), path).toThrow(/has no|there is no/)
    }
    const own = JSON.parse('{"item": {"__proto__": {"x": "own"}, "constructor": "mine"}}') as { item: Json }
    expect(fillText('${item.__proto__.x} ${item.constructor}', own)).toBe('own mine')
  })

  it('what was filled in is not read again', () => {
    expect(fillText('${a}', { a: '${b} $${', b: 'no' })).toBe('${b} $${')
  })

  it('whatever text becomes of values, text without references stays', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (text, value) => {
        const escaped = text.replaceAll('${', '$$${')
        if (escaped.includes('$$${')) return
        expect(fillText(escaped, {})).toBe(text)
        expect(fillText(`${escaped}|\${v}|${escaped}`, { v: value })).toBe(`${text}|${value}|${text}`)
      }),
    )
  })

  it('is refused when its values make it larger than memory should hold', () => {
    const template = parseTemplate('${v}'.repeat(40))
    expect(() => fillTemplate(template, { v: 'x'.repeat(1024 * 1024) })).toThrow(/exceeds 16777216 characters/)
  })
})

describe('data with references', () => {
  it('a string that is one reference becomes the value, others text', () => {
    const data = { whole: '${list}', part: 'n=${n}', none: '${none}', deep: [['${yes}']], '${n}': 1, plain: 2 }
    expect(fillJson(data, values)).toEqual({
      whole: ['a', { b: 2 }],
      part: 'n=7',
      none: null,
      deep: [[true]],
      '${n}': 1,
      plain: 2,
    })
  })

  it('a key `__proto__` stays a key', () => {
    const filled = fillJson(JSON.parse('{"__proto__": {"a": "${n}"}}') as Json, values)
    expect(Object.keys(filled as object)).toEqual(['__proto__'])
    expect(({} as Record<string, unknown>)['a']).toBeUndefined()
    expect(JSON.stringify(filled)).toBe('{"__proto__":{"a":7}}')
  })

  it('tells every reference within', () => {
    const data = { a: 'x ${n}', b: ['${item.id}', { c: '$${no}' }], d: 1 }
    expect(referencesInJson(data).map(({ text }) => text)).toEqual(['n', 'item.id'])
  })
})
