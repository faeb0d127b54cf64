/**
 * The style limits of the project, as a test. A rule lists its offenders; they must be exactly the named exceptions,
 * so an exception that is no longer needed fails too.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'rolldown/parseAst'
import { expect, test } from 'vitest'

const MAX_FILE_LINES = 400
const MAX_MEDIAN_LINES = 100
const MAX_FUNCTION_LINES = 60

/** By rule; files, or `file:function`. Say why beside each. */
const EXCEPTIONS: Record<string, readonly string[]> = {}

const root = fileURLToPath(new URL('../../', import.meta.url))
const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
  .toString()
  .split('\0')
  .filter((file) => file !== '' && existsSync(path.join(root, file)))
const textOf = new Map(files.map((file) => [file, readFileSync(path.join(root, file), 'utf8')]))
/** Written by `npm run api`, and as long as what an entry exports. */
const isWritten = (file: string): boolean => /^packages\/[^/]+\/api\//.test(file)
const code = files.filter((file) => /\.(ts|mjs|js)$/.test(file) && !isWritten(file))
const sources = code.filter((file) => /^packages\/[^/]+\/src\//.test(file) && !file.endsWith('.test.ts'))

const linesIn = (text: string): number => text.trimEnd().split('\n').length
const containing = (pattern: RegExp, among = files): string[] =>
  among.filter((file) => pattern.test(textOf.get(file) ?? ''))

function rule(name: string, offenders: () => string[]): void {
  test(name, () => {
    expect(offenders().toSorted()).toEqual((EXCEPTIONS[name] ?? []).toSorted())
  })
}

rule('file names are kebab-case', () =>
  files.filter((file) => {
    const isProjectDocument = /^(.*\/)?([A-Z]+\.md|LICENSE)$/.test(file)
    return !isProjectDocument && !file.split('/').every((part) => /^\.?[a-z0-9]+([-.][a-z0-9]+)*$/.test(part))
  }),
)

rule('no module is called utils or helpers', () =>
  files.filter((file) => /(^|[/.-])(utils?|helpers?|misc)[/.-]/.test(file)),
)

// What editors show over a public type is long where it has many members; it is read one comment at a time.
const withoutDocs = (text: string): string => text.replaceAll(/^[ \t]*\/\*\*.*?\*\/[ \t]*\n/gms, '')

rule(`no code file has more than ${MAX_FILE_LINES} lines beside its documentation comments`, () =>
  code.filter((file) => linesIn(withoutDocs(textOf.get(file) ?? '')) > MAX_FILE_LINES),
)

test(`half of the source files have fewer than ${MAX_MEDIAN_LINES} lines`, () => {
  const lengths = sources.map((file) => linesIn(textOf.get(file) ?? '')).toSorted((a, b) => a - b)
  expect(lengths[lengths.length >> 1]).toBeLessThan(MAX_MEDIAN_LINES)
})

rule(`no function has more than ${MAX_FUNCTION_LINES} lines`, () =>
  sources.flatMap((file) =>
    nodesOf(file)
      .filter((node) => /^(Function|ArrowFunction)/.test(node.type) && linesOf(file, node) > MAX_FUNCTION_LINES)
      .map((node) => `${file}:${node.id?.name ?? 'anonymous'}`),
  ),
)

rule('nothing is typed any', () =>
  code.filter((file) => file.endsWith('.ts') && nodesOf(file).some((node) => node.type === 'TSAnyKeyword')),
)

rule('every source file starts with what it is for', () =>
  sources.filter((file) => !textOf.get(file)?.startsWith('/**')),
)
rule('nothing is left to do', () => containing(/\b(TO[D]O|FIX[M]E|XX[X])\b/, code))
rule('no compiler error is silenced', () => containing(/@ts-([i]gnore|[n]ocheck)/, code))
rule('no path of one machine', () => containing(/(?<![\w.~-])\/(home|work|root|Users)\/\w/))
rule('no lockfile says where to download from', () =>
  containing(
    /"resolved": "(https?|git|ssh)\b/,
    files.filter((file) => file.endsWith('package-lock.json')),
  ),
)
rule('no package registry is named', () => containing(/\bregistry\.[a-z0-9-]+\.[a-z]+/i))

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly id?: { readonly name?: string } | null
}

/** Every node of the file's syntax tree. */
function nodesOf(file: string): Node[] {
  const found: Node[] = []
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    if ('type' in value && 'start' in value) found.push(value as Node)
    for (const child of Object.values(value)) visit(child)
  }
  visit(parseAst(textOf.get(file) ?? '', { lang: 'ts' }))
  return found
}

function linesOf(file: string, node: Node): number {
  return linesIn((textOf.get(file) ?? '').slice(node.start, node.end))
}
