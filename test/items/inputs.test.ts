/** Point 18 of map/reduce: where items come from. */
import { execFileSync } from 'node:child_process'
import { chmodSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import type { MapInput } from '../../packages/workflow/src/plan/map-plan.js'
import { directoryOf, itemsOf, piecesOf, valuesOf } from './items-of.js'

const file = (name: string, format: 'json' | 'ndjson' | 'csv' | 'lines' | null = null): MapInput => ({
  kind: 'file',
  path: name,
  format,
})

describe('a file', () => {
  const documentDir = directoryOf({
    'a.json': '[1, 2]',
    'a.ndjson': '1\n2\n',
    'A.JSONL': '1\n2\n',
    'a.csv': 'id\n1\n2\n',
    'a.tsv': 'id\tx\n1\t2\n',
    'a.txt': '1\n2\n',
    names: 'ann\nbob\n',
    'odd.dat': '[1, 2]',
    'wrong.gz': Uint8Array.of(0x1f, 0x8b, 0x08),
  })

  it.each([
    ['a.json', [1, 2]],
    ['a.ndjson', [1, 2]],
    ['A.JSONL', [1, 2]],
    ['a.csv', [{ id: '1' }, { id: '2' }]],
    ['a.tsv', [{ id: '1', x: '2' }]],
    ['a.txt', ['1', '2']],
    ['names', ['ann', 'bob']],
  ])('%s is read by its ending', async (name, expected) => {
    expect(await valuesOf(file(name), {}, { documentDir })).toEqual(expected)
  })

  it('is read in the format that is said, and as JSON if there is a path', async () => {
    expect(await valuesOf(file('a.csv', 'lines'), {}, { documentDir })).toEqual(['id', '1', '2'])
    expect(await valuesOf(file('odd.dat', 'json'), {}, { documentDir })).toEqual([1, 2])
    expect(await valuesOf(file('odd.dat'), { jsonPath: '$[0]' }, { documentDir })).toEqual([1])
  })

  it('is found from the directory of the document, with values filled in', async () => {
    expect(await valuesOf(file('${kind}.json'), {}, { documentDir, values: { kind: 'a' } })).toEqual([1, 2])
    expect(await valuesOf(file(path.join(documentDir, 'a.json')), {}, { documentDir: '/' })).toEqual([1, 2])
  })

  it('that cannot be read is named', async () => {
    const missing = valuesOf(file('none.json'), {}, { documentDir })
    await expect(missing).rejects.toThrow(`none.json: no such file (looked for ${path.join(documentDir, 'none.json')})`)
    await expect(missing).rejects.toMatchObject({ code: 'invalid_items', retryable: false, place: 'none.json' })
    const directory = valuesOf(file('.'), {}, { documentDir })
    await expect(directory).rejects.toThrow('.: this is a directory, not a file (its files are `input: {glob: "./*"}`)')
    await expect(valuesOf(file('wrong.gz'), {}, { documentDir })).rejects.toThrow('unpack it with a command')
  })
})

describe('a command', () => {
  const input: MapInput = { kind: 'command', action: { kind: 'shell', command: 'list' }, format: null }

  it('gives its output, and its failure', async () => {
    const openCommand = (action: unknown) => {
      expect(action).toEqual({ kind: 'shell', command: 'list' })
      return Promise.resolve(piecesOf(['a\n', 'b']))
    }
    expect(await valuesOf(input, {}, { openCommand })).toEqual(['a', 'b'])
    const failing = async function* (): AsyncGenerator<string | Uint8Array> {
      yield* piecesOf(['a\n'])
      throw new Error('exit 3')
    }
    await expect(valuesOf(input, {}, { openCommand: () => Promise.resolve(failing()) })).rejects.toThrow('exit 3')
  })

  it('names its output in errors', async () => {
    const openCommand = () => Promise.resolve(piecesOf(['{']))
    const failing = valuesOf({ ...input, format: 'ndjson' }, {}, { openCommand })
    await expect(failing).rejects.toThrow('output of the command:1:2: the row ends too early')
  })

  it('is stopped when no more items are wanted, and not started when none are', async () => {
    const calls: string[] = []
    const endless = async function* (): AsyncGenerator<string | Uint8Array> {
      try {
        for (let i = 0; ; i++) yield* piecesOf([`${i}\n`])
      } finally {
        calls.push('stopped')
      }
    }
    const openCommand = () => {
      calls.push('started')
      return Promise.resolve(endless())
    }
    expect(await valuesOf(input, { offset: 1, maxItems: 2 }, { openCommand })).toEqual(['1', '2'])
    expect(calls).toEqual(['started', 'stopped'])
    expect(await valuesOf(input, { maxItems: 0 }, { openCommand })).toEqual([])
    await expect(valuesOf({ ...input, format: 'csv' }, { jsonPath: '$[0]' }, { openCommand })).rejects.toThrow(
      'json_path',
    )
    expect(calls).toEqual(['started', 'stopped'])
  })
})

describe('a glob', () => {
  const documentDir = directoryOf({
    'src/a.ts': '',
    'src/a-b.ts': '',
    'src/a/b.ts': '',
    'src/a/deep/c.ts': '',
    'src/a/deep/c.js': '',
    'src/.hidden.ts': '',
    'src/.cache/x.ts': '',
    'node_modules/m/index.ts': '',
    'odd[1].txt': '',
    'x{y}.txt': '',
    'été.txt': '',
  })
  symlinkSync('..', path.join(documentDir, 'src/a/loop'))
  symlinkSync('nowhere', path.join(documentDir, 'src/broken.ts'))
  const glob = (...patterns: string[]): Promise<unknown[]> => valuesOf({ kind: 'glob', patterns }, {}, { documentDir })

  it.each([
    [['src/*.ts'], ['src/a-b.ts', 'src/a.ts', 'src/broken.ts']],
    [['src/**/*.ts'], ['src/a-b.ts', 'src/a.ts', 'src/a/b.ts', 'src/a/deep/c.ts', 'src/broken.ts']],
    [['./src//a/**'], ['src/a/b.ts', 'src/a/deep/c.js', 'src/a/deep/c.ts']],
    [
      ['src/**/c.{js,ts}', 'src/a/deep/c.ts'],
      ['src/a/deep/c.js', 'src/a/deep/c.ts'],
    ],
    [['src/?.ts'], ['src/a.ts']],
    [['src/[!b-z]*.ts', '!src/*-*'], ['src/a.ts']],
    [['src/.*.ts'], ['src/.hidden.ts']],
    [['src/.cache/*'], ['src/.cache/x.ts']],
    [['**/*.ts', '!src/**'], ['node_modules/m/index.ts']],
    [['**/index.ts', '!**/node_modules/**'], []],
    [['**/index.ts', '!node_modules'], []],
    [
      ['odd\\[1\\].txt', '[e-ÿ]t?.txt'],
      ['odd[1].txt', 'été.txt'],
    ],
    [['odd[1].txt'], []],
    [['x{y}.txt'], ['x{y}.txt']],
    [['src/*/'], ['src/a/']],
    [['src/a/loop/*.ts'], ['src/a/loop/a-b.ts', 'src/a/loop/a.ts', 'src/a/loop/broken.ts']],
    [['none/**'], []],
    [['src/a.ts/*'], []],
    [['**/a.ts'], ['src/a.ts']],
  ])('%j matches %j', async (patterns, expected) => {
    expect(await glob(...patterns)).toEqual(expected)
  })

  it('may begin above the document, or at the root', async () => {
    const above = await valuesOf(
      { kind: 'glob', patterns: ['../*/a/*.ts'] },
      {},
      { documentDir: path.join(documentDir, 'src') },
    )
    expect(above).toEqual(['../src/a/b.ts'])
    expect(await glob(`${documentDir}/src/a.ts`)).toEqual([`${documentDir}/src/a.ts`])
  })

  it('matches values that are filled in as they are', async () => {
    const filled = (name: string) =>
      valuesOf({ kind: 'glob', patterns: ['${name}.txt'] }, {}, { documentDir, values: { name } })
    expect(await filled('odd[1]')).toEqual(['odd[1].txt'])
    expect(await filled('*')).toEqual([])
    expect(await filled('!odd')).toEqual([])
    expect(await filled('{x,odd}')).toEqual([])
  })

  it.each([
    [['a/../b'], 'a/../b: `..` stands only at the beginning'],
    [['.'], '.: the pattern names nothing'],
    [['!a'], '!a: every pattern takes away, and none adds'],
    [['{a,b}'.repeat(12)], 'more than 1000 alternatives'],
  ])('%j is refused', async (patterns, expected) => {
    await expect(glob(...patterns)).rejects.toThrow(expected)
  })

  it('with many stars answers at once', async () => {
    expect(await glob(`${'*a'.repeat(30)}*b`)).toEqual([])
  })

  // Root may read everything.
  it.skipIf(process.getuid?.() === 0)('refuses a directory that it may not read', async () => {
    const directory = directoryOf({ 'open/a': '', 'closed/b': '' })
    chmodSync(path.join(directory, 'closed'), 0)
    const matches = (...patterns: string[]) => valuesOf({ kind: 'glob', patterns }, {}, { documentDir: directory })
    await expect(matches('**')).rejects.toThrow('closed/: no permission to read it (leave it out with `!closed/**`)')
    expect(await matches('**', '!closed/**')).toEqual(['open/a'])
    chmodSync(path.join(directory, 'closed'), 0o700)
  })

  it('matches what bash matches where there are no links, in the order of bytes', async () => {
    const names = ['src/a.ts', 'src/a-b.ts', 'src/a/b.ts', 'src/a/deep/c.js', 'src/.x/y.ts', 'lib/m/é.ts', 'lib/m/Z.ts']
    const plain = directoryOf(Object.fromEntries(names.map((name) => [name, ''])))
    for (const pattern of [
      'src/*',
      '**/*.ts',
      '**',
      '*/a/**',
      '{src,lib}/*/*.ts',
      'src/a[.-]*',
      '**/[a-cZ].?s',
      'src/.*/*',
    ]) {
      const script = `shopt -s globstar nullglob; for f in ${pattern}; do [ -d "$f" ] || printf '%s\\n' "$f"; done | sort -u`
      const expected = execFileSync('bash', ['-c', script], { cwd: plain, env: { ...process.env, LC_ALL: 'C.UTF-8' } })
      const found = await valuesOf({ kind: 'glob', patterns: [pattern] }, {}, { documentDir: plain })
      expect(found.join('\n'), pattern).toBe(expected.toString().trim())
    }
  })
})

describe('an input that is written in the document', () => {
  it.each([
    [{ kind: 'range', from: 1, to: 4, step: 1 }, [1, 2, 3, 4]],
    [{ kind: 'range', from: 1, to: 6, step: 2 }, [1, 3, 5]],
    [{ kind: 'range', from: 3, to: -1, step: -2 }, [3, 1, -1]],
    [{ kind: 'range', from: 3, to: 1, step: 1 }, []],
    [
      {
        kind: 'product',
        lists: [
          ['a', 'b'],
          [1, 2],
        ],
      },
      [
        ['a', 1],
        ['a', 2],
        ['b', 1],
        ['b', 2],
      ],
    ],
    [{ kind: 'product', lists: [['a'], []] }, []],
    [{ kind: 'product', lists: [['${region}'], [1]] }, [['eu', 1]]],
    [{ kind: 'list', items: [] }, []],
    [{ kind: 'list', items: ['a', { name: 'x-${region}' }, '${orders}'] }, ['a', { name: 'x-eu' }, [{ id: 1 }]]],
    [{ kind: 'value', reference: '${orders}' }, [{ id: 1 }]],
  ] as const)('%j has the items %j', async (input, expected) => {
    expect(await valuesOf(input, {}, { values: { region: 'eu', orders: [{ id: 1 }] } })).toEqual(expected)
  })

  it('may be a value of any kind, with a path', async () => {
    const values = { answer: { data: [{ n: 1 }, { n: 2 }] } }
    const input: MapInput = { kind: 'value', reference: '${answer}' }
    expect(await valuesOf(input, { jsonPath: '$.data[?@.n > 1]' }, { values })).toEqual([{ n: 2 }])
    await expect(valuesOf(input, {}, { values })).rejects.toThrow(
      '${answer}: the input is an object, not a list (`json_path: $.data[*]` takes the list that is in it)',
    )
    await expect(valuesOf(input, {}, { values: { answer: 'text' } })).rejects.toThrow('the input is text, not a list')
    await expect(valuesOf(input, {}, { values: {} })).rejects.toThrow('there is no `answer`')
  })

  it('takes no path where there is no document', async () => {
    const range: MapInput = { kind: 'range', from: 1, to: 2, step: 1 }
    await expect(valuesOf(range, { jsonPath: '$[0]' })).rejects.toThrow('`json_path` looks into JSON and NDJSON')
  })

  it('is refused if it is no range', async () => {
    await expect(valuesOf({ kind: 'range', from: 1, to: 2, step: 0 })).rejects.toThrow('1 to 2 by 0 is no range')
  })

  it('may be longer than the items that are taken of it', async () => {
    const many: MapInput = { kind: 'range', from: 1, to: 10_000_001, step: 1 }
    const last = itemsOf(many, { offset: 9_999_999 })
    expect(await last).toMatchObject([
      { index: 0, value: 10_000_000 },
      { index: 1, value: 10_000_001 },
    ])
  })
})
