/**
 * One shape for times in everything that an entry exports: an option that is a duration has no unit in its name and takes a
 * `DurationInput`; what is told is a number whose name ends in `Ms`; a `clock` is a `Clock`. Read from the sources, so
 * that a new option cannot be forgotten.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'rolldown/parseAst'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../packages/', import.meta.url))

/** What parseAst gives, walked by shape. */
type Node = Readonly<Record<string, unknown>> & { readonly type: string }

interface Member {
  /** Such as `DurableOptions.lease`. */
  readonly place: string
  readonly owner: string
  readonly name: string
  /** As it is written. */
  readonly type: string
}

/** Types of what is given rather than told. */
const INPUT = /(?:Options|Input|Settings|Limits|Filter)$/
/** Types that are called so and are records: what a job or an operator has settled, in milliseconds. */
const RECORDS = ['EffectiveSettings', 'OperatorSettings']
/** Options that are points in time: numbers, as what is told. */
const MOMENTS = ['startMs', 'sinceMs', 'untilMs']
/** Names of times and durations, without the unit. */
const TIMED =
  /(?:^|[a-z])(?:At|Until|Since|Deadline|Delay|Timeout|Elapsed|Duration|Latency|Lease|Grace|Park|Window|RetryAfter)$/
/** Numbers that are no times though they are called so. */
const NO_TIMES: readonly string[] = [
  // Of a ledger that fails by plan: which operation fails.
  'FaultPlan.failAt',
]

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string'
const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

function nodesIn(value: unknown, wanted: (node: Node) => boolean): Node[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.values(value).flatMap((child) => nodesIn(child, wanted))
  return isNode(value) && wanted(value) ? [value, ...inner] : inner
}

/** Source files of the entries of all packages, by the name that they are imported by. */
function entries(): Map<string, string> {
  const found = new Map<string, string>()
  for (const name of readdirSync(root)) {
    const file = path.join(root, name, 'package.json')
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as { name: string; exports?: Record<string, unknown> }
    for (const [place, target] of Object.entries(manifest.exports ?? {})) {
      const source = (target as { 'reprise-source'?: string })['reprise-source']
      if (source !== undefined) found.set(path.join(manifest.name, place), path.join(root, name, source))
    }
  }
  return found
}

const parsed = new Map<string, { readonly text: string; readonly body: readonly Node[] }>()
function sourceOf(file: string): { readonly text: string; readonly body: readonly Node[] } {
  let source = parsed.get(file)
  if (source === undefined) {
    const text = readFileSync(file, 'utf8')
    source = { text, body: (parseAst(text, { lang: 'ts' }) as unknown as { body: Node[] }).body }
    parsed.set(file, source)
  }
  return source
}

/** Declarations that a file exports, its own and those of other files; `only`: by these names. */
function exportsOf(file: string, only?: ReadonlySet<string>): [file: string, declaration: Node][] {
  return sourceOf(file).body.flatMap((node): [string, Node][] => {
    const from = (node['source'] as { value?: string } | null | undefined)?.value
    if (from !== undefined) {
      const target = path.join(path.dirname(file), from.replace(/\.js$/, '.ts'))
      if (!node.type.startsWith('Export') || !from.startsWith('.') || !existsSync(target)) return []
      const names = (node['specifiers'] as Node[] | undefined)?.map(({ local }) => (local as { name: string }).name)
      return exportsOf(target, names === undefined ? only : new Set(names))
    }
    const declaration = node['declaration'] as Node | null | undefined
    if (!isNode(declaration)) return []
    const name = (declaration['id'] as { name?: string } | null | undefined)?.name ?? ''
    return only === undefined || only.has(name) ? [[file, declaration]] : []
  })
}

/** A declaration, and the interfaces that it extends and its file does not export. */
function withBases([file, declaration]: [string, Node]): [string, Node][] {
  const clauses = declaration.type === 'TSInterfaceDeclaration' ? (declaration['extends'] as Node[]) : []
  const names = clauses.map(({ expression }) => (expression as { name?: string }).name)
  const bases = sourceOf(file).body.filter((node) => names.includes((node['id'] as { name?: string } | null)?.name))
  return [[file, declaration], ...bases.map((base): [string, Node] => [file, base])]
}

const SIGNATURES = ['TSPropertySignature', 'PropertyDefinition']

/** Members of types and classes, and of what functions take, by the name of the declaration. */
function membersOf(file: string, declaration: Node): Member[] {
  const { text } = sourceOf(file)
  const id = (declaration['id'] as { name?: string } | null)?.name ?? ''
  const owner = declaration.type === 'FunctionDeclaration' ? `${capital(id)}Options` : id
  const within = declaration.type === 'FunctionDeclaration' ? declaration['params'] : declaration
  return nodesIn(within, ({ type, accessibility }) => SIGNATURES.includes(type) && accessibility !== 'private').flatMap(
    (node): Member[] => {
      const name = (node['key'] as { name?: string }).name
      const annotation = (node['typeAnnotation'] as { typeAnnotation?: { start: number; end: number } } | null)
        ?.typeAnnotation
      if (name === undefined || annotation === undefined) return []
      return [{ place: `${owner}.${name}`, owner, name, type: text.slice(annotation.start, annotation.end) }]
    },
  )
}

const members = [
  ...new Map(
    [...entries().values()]
      .flatMap((file) => exportsOf(file))
      .flatMap(withBases)
      .flatMap(([file, declaration]) => membersOf(file, declaration))
      .map((member) => [member.place + member.type, member]),
  ).values(),
]
const isInput = ({ owner }: Member): boolean => INPUT.test(owner) && !RECORDS.includes(owner)
const inputs = members.filter(isInput)
const told = members.filter((member) => !isInput(member))
const places = (found: readonly Member[]): string[] => found.map(({ place }) => place).toSorted()

describe('in everything that the entries export', () => {
  test('the members of options and results are found', () => {
    expect(entries().size).toBeGreaterThan(7)
    expect(places(inputs)).toEqual(
      expect.arrayContaining([
        'DurableOptions.lease',
        'PolicyInput.maxDelay',
        'VirtualClockOptions.startMs',
        'WorkflowOptions.grace',
      ]),
    )
    expect(places(told)).toEqual(
      expect.arrayContaining(['Policy.maxDelayMs', 'RunView.startedAtMs', 'CallTimeoutError.timeoutMs']),
    )
  })

  test('no option has a unit in its name, except points in time', () => {
    expect(places(inputs.filter(({ name }) => name.endsWith('Ms') && !MOMENTS.includes(name)))).toEqual([])
  })

  test('an option that is a duration takes one with its unit', () => {
    const timed = inputs.filter(({ name, type }) => TIMED.test(capital(name)) && /\bnumber\b/.test(type))
    expect(places(timed)).toEqual([])
  })

  test('a number that is told and is a time or a duration ends in Ms', () => {
    const timed = told.filter(({ name, type }) => TIMED.test(capital(name)) && /\bnumber\b/.test(type))
    expect(places(timed)).toEqual(NO_TIMES)
  })

  test('what ends in Ms is a number', () => {
    const others = [...told, ...inputs].filter(({ name, type }) => name.endsWith('Ms') && !/\bnumber\b/.test(type))
    expect(places(others)).toEqual([])
  })

  test('a clock is a Clock', () => {
    const clocks = members.filter(({ name }) => name === 'clock')
    expect(places(clocks)).toEqual(expect.arrayContaining(['ExecutorOptions.clock', 'SqliteOptions.clock']))
    expect(places(clocks.filter(({ type }) => !/^Clock(?: \| undefined)?$/.test(type)))).toEqual([])
  })
})
