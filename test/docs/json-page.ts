/**
 * The shapes that docs/json.md lists, read from its tables, and whether a value has one. The page is the source: a type is
 * `text`, `number`, `boolean`, `object`, `any`, `null`, the name of a shape, a list `X[]`, words in backticks between `·`,
 * or some of these between `or`, a list of which is `(X or Y)[]`; `{ key: type }` is a shape on the spot. Imports Node and the fences' root.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { ROOT } from './fences.js'

/** A key that ends in `?` may be absent. */
export type Shape = ReadonlyMap<string, string>

const text = readFileSync(path.join(ROOT, 'docs/json.md'), 'utf8')
const NAMES = /^(?:text|number|boolean|object|any|null)$/

/** The shapes under headings, those that begin with another included. */
export const shapes: ReadonlyMap<string, Shape> = readShapes()

/** The cells of the table with this head. */
export function rowsOf(head: string): readonly (readonly [first: string, ...others: string[]])[] {
  const [, table = ''] = text.split(`${head}\n`)
  const rows = table.split('\n').slice(1)
  const end = rows.findIndex((row) => !row.startsWith('|'))
  if (end < 1) throw new Error(`docs/json.md has no table ${head}`)
  return rows.slice(0, end).map((row) => cellsOf(row) as [string, ...string[]])
}

function cellsOf(row: string): string[] {
  return row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
}

function readShapes(): Map<string, Shape> {
  const found = new Map<string, Shape>()
  for (const section of text.split(/^### /m).slice(1)) {
    const name = section.slice(0, section.indexOf('\n'))
    const table = /^\| field \|.*\n\|[-|]+\|\n((?:\|.*\n)+)/m.exec(section)?.[1]
    if (table === undefined) continue
    const own = table
      .trimEnd()
      .split('\n')
      .map(cellsOf)
      .map(([field = '', type = '']): [string, string] => [field.replaceAll('`', ''), type])
    const base = /^An? (\w+), and:$/m.exec(section)?.[1]
    found.set(name, new Map([...(base === undefined ? [] : (found.get(base) ?? [])), ...own]))
  }
  return found
}

/** Of `{ runs: RunView[], count?: number }`. */
function inlineShape(written: string): Shape {
  const inner = written.replaceAll('`', '').replace(/^\{ ?/, '').replace(/\}$/, '').trim()
  if (inner === '') return new Map()
  return new Map(inner.split(', ').map((part) => part.split(': ') as [string, string]))
}

/** The page says once that every time has its date beside it. */
function withDates(shape: Shape): Shape {
  return new Map(
    [...shape].flatMap(([key, type]): [string, string][] =>
      /(?:^at|^time|At|Until)Ms\??$/.test(key)
        ? [
            [key, type],
            [key.replace('Ms', ''), type.replace('number', 'text')],
          ]
        : [[key, type]],
    ),
  )
}

/**
 * Times and durations that are not as the page says: no whole numbers, or without their date. A number that is the time of
 * these years is a time, whatever its name.
 */
export function timeFaults(value: unknown, place = '$'): string[] {
  if (typeof value !== 'object' || value === null) return []
  const fields = value as Readonly<Record<string, unknown>>
  return Object.entries(fields).flatMap(([key, held]) => {
    const at = `${place}.${key}`
    if (GIVEN.includes(key)) return []
    if (!key.endsWith('Ms')) return timeFaults(held, at)
    const [numbers, dates] = [[held].flat(), [fields[key.slice(0, -2)]].flat()]
    const isMoment = /(?:^at|^time|At|Until)Ms$/.test(key) || numbers.some((one) => (one as number) > 1e12)
    return numbers.flatMap((one, index) => {
      if (one === null) return isMoment && dates[index] !== null ? [`${at} is null, and its date is not`] : []
      if (typeof one === 'object')
        return timeFaults(Object.fromEntries(Object.entries(one).map(([name, ms]) => [`${name}Ms`, ms])), at)
      if (!Number.isInteger(one)) return [`${at} is ${String(one)}, no whole number`]
      const isDated = !isMoment || dates[index] === new Date(one as number).toISOString()
      return isDated ? [] : [`${at} has the date ${String(dates[index])}`]
    })
  })
}

/** What users have written. */
const GIVEN = ['params', 'policy', 'action', 'env']

/** Where a value is not of its type; empty if it is. */
export function faultsOf(value: unknown, type: string, place = '$'): string[] {
  const [, among] = /^\((.*)\)\[\]$/.exec(type) ?? []
  if (among !== undefined) {
    if (!Array.isArray(value)) return [`${place} is no list`]
    return value.flatMap((item, index) => faultsOf(item, among, `${place}[${index}]`))
  }
  const [, orNull] = /^(`\{.*\}`) or null$/.exec(type) ?? []
  if (orNull !== undefined) return value === null ? [] : faultsOf(value, orNull, place)
  if (/^`?\{/.test(type)) return faultsOfFields(value, inlineShape(type), place)
  const plain = type.replaceAll('`', '')
  if (plain.includes(' · ')) return faultsOfWord(value, plain.split(' · '), place)
  const options = plain.split(' or ')
  if (options.length > 1) {
    const each = options.map((option) => faultsOf(value, option, place))
    return each.some((faults) => faults.length === 0) ? [] : (each[0] ?? [])
  }
  if (plain.endsWith('[]')) {
    if (!Array.isArray(value)) return [`${place} is no list`]
    return value.flatMap((item, index) => faultsOf(item, plain.slice(0, -2), `${place}[${index}]`))
  }
  if (NAMES.test(plain)) return isPlain(value, plain) ? [] : [`${place} is ${JSON.stringify(value)}, no ${plain}`]
  const shape = shapes.get(plain)
  if (shape === undefined) throw new Error(`docs/json.md does not say what ${plain} is`)
  return faultsOfFields(value, shape, place)
}

function faultsOfWord(value: unknown, words: readonly string[], place: string): string[] {
  return words.includes(String(value)) ? [] : [`${place} is ${JSON.stringify(value)}, none of ${words.join(', ')}`]
}

function isPlain(value: unknown, type: string): boolean {
  if (type === 'any') return true
  if (type === 'null') return value === null
  if (type === 'text') return typeof value === 'string'
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  return typeof value === type
}

function faultsOfFields(value: unknown, shape: Shape, place: string): string[] {
  if (!isPlain(value, 'object')) return [`${place} is ${JSON.stringify(value)}, no object`]
  const fields = value as Readonly<Record<string, unknown>>
  const all = withDates(shape)
  const known = new Map([...all].map(([key, type]) => [key.replace(/\?$/, ''), type]))
  const unknown = Object.keys(fields).filter((key) => !known.has(key))
  const missing = [...all.keys()].filter((key) => !key.endsWith('?') && !Object.hasOwn(fields, key))
  return [
    ...unknown.map((key) => `${place}.${key} is printed, and not on the page`),
    ...missing.map((key) => `${place}.${key} is on the page, and not printed`),
    ...[...known].flatMap(([key, type]) =>
      Object.hasOwn(fields, key) ? faultsOf(fields[key], type, `${place}.${key}`) : [],
    ),
  ]
}
