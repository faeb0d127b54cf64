/**
 * What an `http:` action asks for, with its values filled in. Pure. Imports templates.
 *
 * Credentials in the address become a header, since `fetch` refuses them there; errors show the address without them.
 */
import type { Json } from 'reprise/durable'
import type { HttpAction } from '../plan/plan.js'
import { SetupError } from '../values/setup-error.js'
import { fillJson, fillText } from '../values/template.js'
import type { StepContext } from './step-context.js'

export interface HttpRequest {
  readonly method: string
  /** Without credentials. */
  readonly url: URL
  readonly headers: Headers
  readonly body: string | null
}

/** For people: the method and where it goes, without credentials and query. */
export function shownOf({ method, url }: Pick<HttpRequest, 'method' | 'url'>): string {
  return `${method} ${url.origin}${url.pathname}${url.search === '' ? '' : '?…'}`
}

/** Nothing happens a second time with these. */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD'])

export function requestOf(action: HttpAction, { values, idempotencyKey }: StepContext): HttpRequest {
  const method = action.method.toUpperCase()
  const url = addressOf(fillText(action.url, values))
  const headers = new Headers()
  if (url.username !== '' || url.password !== '') headers.set('authorization', basicOf(url))
  for (const [name, value] of Object.entries(action.headers)) setHeader(headers, name, fillText(value, values))
  const body = bodyOf(action.body, values)
  if (body !== null && SAFE.has(method)) {
    throw new SetupError('unusable_value', `a ${method} request has no body: leave it out, or use \`method: POST\``)
  }
  if (body !== null && typeof action.body !== 'string' && !headers.has('content-type')) {
    headers.set('content-type', 'application/json')
  }
  if (!SAFE.has(method) && !headers.has('idempotency-key')) setHeader(headers, 'idempotency-key', idempotencyKey)
  url.username = ''
  url.password = ''
  return { method, url, headers, body }
}

/** What `fetch` takes; a method that it refuses is told of. */
export function fetchable(request: HttpRequest): Request {
  const { url, method, headers, body } = request
  try {
    return new Request(url, { method, headers, body, redirect: 'manual' })
  } catch (error) {
    throw new SetupError('unusable_value', `${shownOf(request)}: ${(error as Error).message}`)
  }
}

function addressOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:')) return url
  // Neither credentials nor a query are shown.
  const shown = text
    .replace(/^[^@]*@/, '…@')
    .replace(/[?#].*$/s, '?…')
    .slice(0, 200)
  const problem = url === undefined ? 'is not an address' : `is not an address of the web`
  throw new SetupError(
    'unusable_value',
    `the \`url\` ${JSON.stringify(shown)} ${problem}: it begins with http:// or https://`,
  )
}

function basicOf({ username, password }: URL): string {
  const plain = `${decoded(username)}:${decoded(password)}`
  return `Basic ${Buffer.from(plain).toString('base64')}`
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function setHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, value)
  } catch {
    // Its own message would show the value.
    const why = 'a line break, or a character beyond Latin-1'
    throw new SetupError('unusable_value', `the header \`${name}\` holds what no header can hold, such as ${why}`)
  }
}

function bodyOf(body: Json, values: StepContext['values']): string | null {
  if (body === null) return null
  return typeof body === 'string' ? fillText(body, values) : JSON.stringify(fillJson(body, values))
}
