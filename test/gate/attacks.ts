/**
 * What is wrong with a request in turn, for any route: how it is made, which routes it is about, and how it is answered. The
 * routes are the table that the server is made of, so that a new one is attacked without a change here. Imports the fixture.
 */
import type { Route } from '@reprise/jobs/internal'
import { bodyFields } from '@reprise/jobs/internal'
import { GATE_ROUTES } from '../../packages/dashboard/src/serve/gate.js'
import { type Asked, SECRETS } from './gate-fixture.js'

/** A request that the route would accept. */
export interface RightRequest {
  readonly target: string
  readonly asked: Asked
}

export interface Attack {
  readonly name: string
  /** On a gate without `--allow-changes`; all others are on one with it, so that no other check hides what they are about. */
  readonly isOnReadOnly?: true
  /** The status that refuses it; undefined: it is not about this route. */
  status(route: Route): number | undefined
  /** `port`: of the server. */
  make(right: RightRequest, route: Route, port: number): RightRequest
}

const isChange = ({ method }: Route): boolean => method === 'POST'
/** At some paths one may be read and another changed. */
const isAlone = ({ path }: Route): boolean => GATE_ROUTES.filter((route) => route.path === path).length === 1
const isOpen = ({ access }: Route): boolean => access === 'open'

/** Fields of the body that are examples; `values` of the path and of a whole body. */
export function rightRequest(route: Route, values: Readonly<Record<string, unknown>>): RightRequest {
  const target = route.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => String(values[name]))
  if (!isChange(route)) return { target, asked: {} }
  const fields = Object.fromEntries(bodyFields(route).map(({ name, example }) => [name, values[name] ?? example]))
  const { body } = route
  const content = body !== undefined && 'whole' in body ? values[body.whole] : fields
  return { target, asked: { method: 'POST', body: JSON.stringify(content) } }
}

const withHeaders = (right: RightRequest, headers: Asked['headers']): RightRequest => ({
  ...right,
  asked: { ...right.asked, headers: { ...right.asked.headers, ...headers } },
})

const withBody = (right: RightRequest, body: string | Buffer, isChunked = false): RightRequest => ({
  ...right,
  asked: { ...right.asked, body, isChunked },
})

function onHeaders(name: string, refused: number, headers: (port: number) => Asked['headers']): Attack {
  return {
    name,
    status: (route) => (isOpen(route) ? undefined : refused),
    make: (right, _route, port) => withHeaders(right, headers(port)),
  }
}

function onChanges(name: string, refused: number, make: (right: RightRequest, route: Route) => RightRequest): Attack {
  return { name, status: (route) => (isChange(route) ? refused : undefined), make }
}

function onMethods(name: string, method: string, status: Attack['status']): Attack {
  return { name, status, make: ({ target }) => ({ target, asked: { method } }) }
}

const USUAL_LIMIT = 1024 * 1024

export const ATTACKS: readonly Attack[] = [
  onHeaders('Host of another site', 421, (port) => ({ host: `evil.example:${port}` })),
  onHeaders('Host with another port', 421, () => ({ host: '127.0.0.1:1' })),
  onHeaders('Host that begins like ours', 421, (port) => ({ host: `localhost.evil.example:${port}` })),
  onHeaders('Origin of another site', 403, () => ({ origin: 'https://evil.example' })),
  onHeaders('Origin null', 403, () => ({ origin: 'null' })),
  onHeaders('Sec-Fetch-Site: cross-site', 403, () => ({ 'sec-fetch-site': 'cross-site' })),
  onHeaders('Sec-Fetch-Site: same-site', 403, () => ({ 'sec-fetch-site': 'same-site' })),
  onHeaders('no token', 401, () => ({ authorization: null })),
  onHeaders('unknown token', 401, () => ({ authorization: `Bearer ${SECRETS.act}x` })),
  onHeaders('token as a password', 401, () => ({
    authorization: `Basic ${Buffer.from(`ada:${SECRETS.act}`).toString('base64')}`,
  })),
  onHeaders('token in a cookie', 401, () => ({ authorization: null, cookie: `token=${SECRETS.act}` })),
  onChanges('view token on a change', 403, (right) => withHeaders(right, { authorization: `Bearer ${SECRETS.view}` })),
  onMethods('GET on a change', 'GET', (route) => (isChange(route) && isAlone(route) ? 405 : undefined)),
  onMethods('HEAD on a change', 'HEAD', (route) => (isChange(route) && isAlone(route) ? 405 : undefined)),
  onMethods('POST on a read', 'POST', (route) => (!isChange(route) && isAlone(route) ? 405 : undefined)),
  onMethods('PUT', 'PUT', () => 405),
  onMethods('DELETE', 'DELETE', () => 405),
  onMethods('OPTIONS', 'OPTIONS', (route) => (isOpen(route) ? 405 : 403)),
  onChanges('no content type', 415, (right) => withHeaders(right, { 'content-type': null })),
  onChanges('a form', 415, (right) => withHeaders(right, { 'content-type': 'application/x-www-form-urlencoded' })),
  onChanges('text/plain', 415, (right) => withHeaders(right, { 'content-type': 'text/plain' })),
  onChanges('packed body', 415, (right) => withHeaders(right, { 'content-encoding': 'gzip' })),
  onChanges('no X-Reprise', 403, (right) => withHeaders(right, { 'x-reprise': null })),
  onChanges('too large a body', 413, (right, { bodyLimit = USUAL_LIMIT }) =>
    withBody(right, ' '.repeat(bodyLimit + 1)),
  ),
  onChanges('too large, in parts', 413, (right, { bodyLimit = USUAL_LIMIT }) =>
    withBody(right, ' '.repeat(bodyLimit + 1), true),
  ),
  onChanges('malformed JSON', 400, (right) => withBody(right, '{"a":')),
  onChanges('no UTF-8', 400, (right) => withBody(right, Buffer.from([0x22, 0xff, 0x22]))),
  onChanges('nested too deep', 400, (right) => withBody(right, '['.repeat(100_000))),
  onChanges('a list', 400, (right) => withBody(right, '[]')),
  onChanges('unknown field', 400, (right) => withBody(right, '{"__proto__":{"a":1},"constructor":1}')),
  {
    name: 'unknown parameter',
    status: () => 400,
    make: ({ target, asked }) => ({ target: `${target}?nope=1`, asked }),
  },
  {
    name: 'path that is no name',
    status: ({ inPath = [] }) => (inPath.length > 0 ? 400 : undefined),
    make: ({ asked }, { path }) => ({ target: path.replaceAll(/\{\w+\}/g, '..%2f..%2fetc%00'), asked }),
  },
  {
    name: 'path that is no text',
    status: ({ inPath = [] }) => (inPath.length > 0 ? 400 : undefined),
    make: ({ asked }, { path }) => ({ target: path.replaceAll(/\{\w+\}/g, '%ff%fe'), asked }),
  },
  {
    name: 'without --allow-changes',
    isOnReadOnly: true,
    status: ({ access }) => (access === 'operate' ? 403 : undefined),
    make: (right) => right,
  },
]
