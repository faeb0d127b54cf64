/** Points 11 and 18 of map/reduce: texts in every format, what is wrong with them and where. */
import { describe, expect, it } from 'vitest'
import { InputDataError } from '../../packages/workflow/src/items/input-data-error.js'
import type { InputFormat } from '../../packages/workflow/src/plan/map-plan.js'
import { valuesOfText } from './items-of.js'

async function problemOf(format: InputFormat | null, text: string, jsonPath: string | null = null): Promise<string> {
  const failure: unknown = await valuesOfText(format, text, { jsonPath }).catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(InputDataError)
  expect(failure).toMatchObject({ code: 'invalid_items', retryable: false })
  return (failure as Error).message
}

describe('lines', () => {
  it.each([
    ['', []],
    ['a', ['a']],
    ['a\nb\n', ['a', 'b']],
    ['a\r\nb\r\n', ['a', 'b']],
    ['a\n\n\nb', ['a', 'b']],
    ['\uFEFFa\n', ['a']],
    [' a \n', [' a ']],
  ])('of %j are %j', async (text, expected) => {
    expect(await valuesOfText('lines', text)).toEqual(expected)
  })

  it('are what is read without a format', async () => {
    expect(await valuesOfText(null, 'a\nb\n')).toEqual(['a', 'b'])
  })

  it('that begin as JSON does are refused without a format', async () => {
    expect(await problemOf(null, '\n[1,\n2]')).toBe(
      '<stdin>:2: this looks like JSON, and without a format it would be read line by line (say `format: json`, `format: ndjson` or `format: lines`)',
    )
    expect(await valuesOfText('lines', '[1,\n2]')).toEqual(['[1,', '2]'])
    expect(await valuesOfText(null, 'a\n[b]')).toEqual(['a', '[b]'])
  })
})

describe('CSV', () => {
  it.each([
    ['', []],
    ['id,name\n', []],
    ['id,name\n1,Ann\n', [{ id: '1', name: 'Ann' }]],
    ['\uFEFFid\r\n1\r\n', [{ id: '1' }]],
    ['id,note\n1,"a ""b"", c\nd"\n', [{ id: '1', note: 'a "b", c\nd' }]],
    [
      'id,note\n\n1,\n,2',
      [
        { id: '1', note: '' },
        { id: '', note: '2' },
      ],
    ],
    [',a\n0,1\n', [{ '': '0', a: '1' }]],
    ['a\n""\n', [{ a: '' }]],
  ])('%j gives objects of texts', async (text, expected) => {
    expect(await valuesOfText('csv', text)).toEqual(expected)
  })

  it.each([
    ['a,b\n1\n', '<stdin>:2: the row has 1 field, and the header 2 (a separator within a field stands in quotes)'],
    ['a,b\n"x\ny",1\n1,2,3\n', '<stdin>:4: the row has 3 fields, and the header 2'],
    ['a,b,a\n', '<stdin>:1: the header names "a" twice (rename one of the columns)'],
    ['a\n"1\n2\n', '<stdin>:2:1: a quote that opens here never ends'],
    ['a,b\n1,x"y"\n', '<stdin>:2:4: a quote within a field'],
    ['a,b\n1,"x" y\n', '<stdin>:2:6: text follows a closing quote'],
    ['a,b\r1,2\r', '<stdin>:1:4: a CR without LF is no line end (save it with LF)'],
  ])('%j is refused with its line', async (text, expected) => {
    expect(await problemOf('csv', text)).toContain(expected)
  })

  it('with tabs takes a quote within a field as it is', async () => {
    expect(await valuesOfText('tsv', 'id\tname\n1\t5" pipe\n')).toEqual([{ id: '1', name: '5" pipe' }])
  })

  it('may have a column `__proto__`, which reaches no prototype', async () => {
    const [item] = await valuesOfText('csv', '__proto__,id\nx,1\n')
    expect(Object.getPrototypeOf(item)).toBe(Object.prototype)
    expect(Object.keys(item as object)).toEqual(['__proto__', 'id'])
  })
})

describe('NDJSON', () => {
  it('has a value on each line, and blank lines are none', async () => {
    expect(await valuesOfText('ndjson', '{"a":1}\r\n\n  \n[2]\n"x"')).toEqual([{ a: 1 }, [2], 'x'])
  })

  it('that is malformed names line and column', async () => {
    const cure = 'it is not JSON (each row of NDJSON is one JSON value)'
    expect(await problemOf('ndjson', '1\n\n{"a" 1}\n')).toBe(`<stdin>:3:6: the row has an unexpected "1": ${cure}`)
    expect(await problemOf('ndjson', '{"a":')).toBe(`<stdin>:1:6: the row ends too early: ${cure}`)
  })

  it('has a path looked for in each row', async () => {
    const rows = '{"orders":[1,2]}\n{"orders":[]}\n{"orders":[3]}\n'
    expect(await valuesOfText('ndjson', rows, { jsonPath: '$.orders[*]' })).toEqual([1, 2, 3])
  })
})

describe('JSON', () => {
  it.each([
    ['[]', null, []],
    [' [1, {"a": [2]}, "]"] ', null, [1, { a: [2] }, ']']],
    ['{"a": {"b": [1, 2]}, "c": 3}', '$.a.b[*]', [1, 2]],
    ['{"a": {"x": 1, "y": [2]}}', '$.a[*]', [1, [2]]],
    ['{"a": 1}', '$.a.b[*]', []],
    ['{"a": [{"b": [1]}]}', '$.a.b[*]', []],
    ['[[1, 2], [3]]', '$[*][0]', [1, 3]],
    ['{"a": 1}', '$.missing[?@.x]', []],
    ['{"a": [{"n": 1}, {"n": 5}]}', '$.a[?@.n > 2]', [{ n: 5 }]],
    ['{"a": 7}', '$.a', [7]],
  ])('%s with the path %s gives %j', async (text, jsonPath, expected) => {
    expect(await valuesOfText('json', text, { jsonPath })).toEqual(expected)
    if (jsonPath !== null) expect(await valuesOfText(null, text, { jsonPath })).toEqual(expected)
  })

  it.each([
    ['', null, '<stdin>: it is empty, not JSON (an empty list is `[]`)'],
    [' ', '$.a', '<stdin>: it is empty, not JSON (an empty list is `[]`)'],
    ['[1,\n 2,,3]', null, '<stdin>:2:4: unexpected ",": this is not JSON'],
    ['[1,\n 2,,3]', '$[0]', '<stdin>:2:4: unexpected ",": this is not JSON'],
    ['{"a": [1, 2]', '$.a[*]', '<stdin>:1:13: it ends too early: this is not JSON'],
    ['[1] x', null, '<stdin>:1:5: unexpected "x": this is not JSON'],
    ['["a\nb"]', null, '<stdin>:1:4: unexpected "\\n": this is not JSON'],
    ['[01]', null, '<stdin>:1:2: unexpected "0": this is not JSON'],
    ['{"a": 1}', null, '<stdin>: the input is an object, not a list (items are the elements of a list; '],
    ['{"n": 1, "my orders": [1]}', null, '`json_path: $["my orders"][*]` takes the list that is in it'],
    ['{"n": {"x": [0]}, "orders": [1]}', null, '`json_path: $.orders[*]` takes the list that is in it'],
    ['"text"', null, '<stdin>: the input is text, not a list'],
    ['17', null, '<stdin>: the input is a number, not a list'],
    ['{"a": [1], "a": [2]}', '$.a[*]', '<stdin>:1:15: "a" stands twice in one object'],
    ['{"a": 1, "a": 2}', '$[*]', '<stdin>:1:13: "a" stands twice in one object'],
  ])('%j with the path %s is refused with its place', async (text, jsonPath, expected) => {
    expect(await problemOf('json', text, jsonPath)).toContain(expected)
  })

  it('keeps numbers as JSON.parse gives them, and refuses one that is infinite', async () => {
    expect(await valuesOfText('json', '[9007199254740993, 1e2]')).toEqual([9007199254740992, 100])
    expect(await problemOf('json', '[1,\n1e999]')).toBe(
      '<stdin>:2: the item cannot be kept: it has a number that is too large',
    )
  })

  it('may have keys such as `__proto__`', async () => {
    const [item] = await valuesOfText('json', '[{"__proto__": {"id": 1}}]')
    expect(Object.keys(item as object)).toEqual(['__proto__'])
    expect((item as { id?: unknown }).id).toBeUndefined()
  })

  it('that is nested too deep is refused with its line', async () => {
    const deep = `[1,\n${'['.repeat(100_000)}${']'.repeat(100_000)}]`
    expect(await problemOf('json', deep)).toBe('<stdin>:2: the item cannot be kept: it is nested deeper than 60 levels')
  })
})

describe('an item above 1 MiB', () => {
  const large = 'x'.repeat(1024 ** 2)
  const cure =
    'the item is larger than 1 MiB as JSON (keep its data in a file, and make the item the path of that file)'

  it.each([
    ['lines', `a\n${large}\n`, '<stdin>:2'],
    ['ndjson', `1\n\n{"id": 1, "text": "${large}"}\n`, '<stdin>:3'],
    ['csv', `id,text\n1,"\n"\n2,${large}\n`, '<stdin>:4'],
    ['json', `[1,\n\n"${large}"]`, '<stdin>:3'],
  ] as const)('of %s is refused with its place', async (format, text, place) => {
    expect(await problemOf(format, text)).toBe(`${place}: ${cure}`)
  })

  it('is refused before all of it is in memory', async () => {
    for (const format of ['lines', 'ndjson', 'csv', 'json'] as const) {
      let pieces = 0
      const endless = function* (): Generator<string> {
        yield format === 'json' ? '["' : '"'
        for (;;) {
          pieces++
          yield large
        }
      }
      await expect(valuesOfText(format, endless())).rejects.toThrow('larger than 1 MiB')
      expect(pieces).toBeLessThan(8)
    }
  })

  it('counts bytes of JSON, not characters', async () => {
    expect(await valuesOfText('lines', 'x'.repeat(1024 ** 2 - 2))).toHaveLength(1)
    expect(await problemOf('lines', 'é'.repeat(600_000))).toContain('larger than 1 MiB')
  })
})

describe('a text that is not UTF-8', () => {
  it.each([
    [['a\nb\n', Uint8Array.of(0xff), '\n'], 3],
    [[Uint8Array.of(0x61, 0x0a, 0x62, 0x0a, 0xe9, 0x0a, 0x63)], 3],
    [['a\n', Uint8Array.of(0xc3), Uint8Array.of(0x0a, 0x61)], 2],
    [['a\n', Uint8Array.of(0xe2, 0x82)], 2],
  ])('is refused with its line, case %#', async (pieces, line) => {
    await expect(valuesOfText('lines', pieces)).rejects.toThrow(
      `<stdin>:${line}: this is not UTF-8 text (save it as UTF-8)`,
    )
  })
})

describe('a path', () => {
  it.each(['csv', 'tsv', 'lines'] as const)('is refused for %s', async (format) => {
    expect(await problemOf(format, 'a\n', '$[0]')).toBe(
      `<stdin>: \`json_path\` looks into JSON and NDJSON, and the input is ${format} (leave it out, or select with \`filter\`)`,
    )
  })
})
