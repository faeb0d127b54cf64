/**
 * The fields of a request as a route describes them: what is unknown, given twice or out of bounds is refused, every problem
 * at once. Pure. Imports the routes and problems.
 */
import { bodyFields, type Route, type RouteField } from '@reprise/jobs/internal'
import { didYouMean, isNot } from 'reprise/internal'
import { badRequest, type FieldProblem } from './problem.js'

/** What an operation is given, by the names of the route's fields. */
export type Input = Readonly<Record<string, unknown>>

export interface RawInput {
  /** Decoded, once. */
  readonly inPath: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** Undefined where the route has no body. */
  readonly body: unknown
}

export function readInput(route: Route, { inPath, query, body }: RawInput): Input {
  const problems: FieldProblem[] = []
  const input: [string, unknown][] = []
  const take = (fields: readonly RouteField[], given: ReadonlyMap<string, unknown>, isText: boolean): void => {
    for (const [name, value] of given) {
      const field = fields.find((one) => one.name === name)
      if (field === undefined) problems.push(unknownField(name, fields))
      else {
        const read = isText && typeof value === 'string' ? fromText(field, value) : value
        const message = faultOf(field, read)
        if (message === undefined) input.push([name, read])
        else problems.push({ path: name, message })
      }
    }
    for (const { name, isRequired } of fields)
      if (isRequired === true && !given.has(name)) problems.push({ path: name, message: 'is missing' })
  }
  take(route.inPath ?? [], new Map(Object.entries(inPath)), true)
  take(route.inQuery ?? [], queryOf(query, problems), true)
  if (route.body !== undefined && 'whole' in route.body) input.push([route.body.whole, body])
  else if (route.body !== undefined) take(bodyFields(route), entriesOf(body, problems), false)
  if (problems.length > 0) throw badRequest(problems)
  return Object.fromEntries(input)
}

function unknownField(path: string, fields: readonly RouteField[]): FieldProblem {
  const known = fields.map(({ name }) => name)
  const suggestion = didYouMean(path, known) ?? `it has ${known.join(', ') || 'none'}`
  return { path, message: 'is not a field of this request', suggestion }
}

function queryOf(query: URLSearchParams, problems: FieldProblem[]): ReadonlyMap<string, unknown> {
  for (const name of new Set(query.keys()))
    if (query.getAll(name).length > 1) problems.push({ path: name, message: 'is given twice' })
  return new Map(query)
}

function entriesOf(body: unknown, problems: FieldProblem[]): ReadonlyMap<string, unknown> {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) {
    // A field that is null is one that is not given.
    return new Map(Object.entries(body).filter(([, value]) => value !== null))
  }
  problems.push({ path: 'body', message: isNot(body, 'an object') })
  return new Map()
}

/** Of the path and the query, where everything is text. */
function fromText({ type }: RouteField, text: string): unknown {
  if (type === 'whole' && /^\d{1,16}$/.test(text)) return Number(text)
  if (type === 'flag' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

function faultOf(field: RouteField, value: unknown): string | undefined {
  const { type, least = 0, most, words } = field
  if (type === 'flag') return typeof value === 'boolean' ? undefined : isNot(value, 'true or false')
  if (type === 'whole') {
    const limit = most ?? Number.MAX_SAFE_INTEGER
    const isWhole = typeof value === 'number' && Number.isInteger(value) && value >= least && value <= limit
    return isWhole ? undefined : isNot(value, `a whole number from ${least} to ${limit}`)
  }
  if (words !== undefined) return words.includes(value as string) ? undefined : isNot(value, words.join(' or '))
  return textFault(field, value)
}

function textFault({ least = 0, most = Infinity, pattern, example }: RouteField, value: unknown): string | undefined {
  if (typeof value !== 'string') return isNot(value, 'a text')
  if (value.length < least || value.length > most)
    return `has ${value.length} characters, and ${least} to ${most} are allowed`
  if (pattern !== undefined)
    return new RegExp(pattern).test(value) ? undefined : isNot(value, `written like ${String(example)}`)
  // No store keeps these.
  return /[\0\p{Cs}]/u.test(value) ? 'has characters that no text may have' : undefined
}
