/**
 * A fetch handler made from a table of routes. Each request goes through the same checks in the same order, and reaches an
 * operation after the last of them: name and origin, token, method, right, media type, header, body, fields. Imports hono
 * and the checks.
 *
 * Invariant: nothing asks the store before every check has passed.
 */
import type { Caller, Route } from '@reprise/jobs/internal'
import { jsonText } from '@reprise/workflow/internal'
import { Hono } from 'hono/tiny'
import { BOUNDS, type Bounds } from './bounds.js'
import { closing, problemOf } from './failure-problem.js'
import { intruder, type Perimeter } from './perimeter.js'
import { type Problem, ProblemError, problemResponse } from './problem.js'
import { BodyMemory, readJsonBody } from './read-body.js'
import { type Input, readInput } from './read-input.js'
import type { Bearer, Tokens } from './tokens.js'

/** Answers a route: JSON, a text where the route says so, or null where it says what that means. */
export type Operation = (input: Input, caller: Caller) => Promise<unknown>

export interface ApiOptions {
  readonly routes: readonly Route[]
  /** By the names that the routes have for them. */
  readonly operations: Readonly<Record<string, Operation>>
  readonly perimeter: Perimeter
  /** null: everybody who reaches the server may act. */
  readonly tokens: Tokens | null
  /** Whether routes of the access `operate` are served. */
  readonly allowsChanges: boolean
  /** Aborts when the server stops: what waits is answered. */
  readonly stopping: AbortSignal
  /** A fault of the server or of its store. */
  readonly onFault: (text: string) => void
  readonly bounds?: Partial<Bounds>
}

/** What the adapter for Node adds. */
interface NodeBindings {
  /** The request as it was sent. */
  readonly incoming?: { readonly rawHeaders: readonly string[] }
}

export type FetchHandler = (request: Request, env?: NodeBindings) => Response | Promise<Response>

/** Whoever asks a server that needs no token. */
const EVERYBODY: Bearer = { access: 'act', name: 'anyone' }
/** Whoever asks for what needs no token, of a server that has some. */
const STRANGER: Bearer = { access: 'view', name: 'a stranger' }

export function createApi(options: ApiOptions): FetchHandler {
  const api = new Api(options)
  // Hono would decode the path before it looks for a route, and its fields once more.
  const app = new Hono<{ Bindings: NodeBindings }>({ getPath: (request) => new URL(request.url).pathname })
  app.notFound(() => problemResponse(NOT_FOUND))
  app.onError((error) => problemResponse(problemOf(error, options.onFault)))
  for (const path of new Set(options.routes.map((route) => route.path))) {
    const here = options.routes.filter((route) => route.path === path)
    app.all(path.replaceAll(/\{(\w+)\}/g, ':$1'), (context) => api.answer(here, context.req.raw, context.req.param()))
  }
  return async (request, env) => {
    const refusal = api.refusalOf(request, env)
    const response = refusal === undefined ? await app.fetch(request, env) : problemResponse(refusal)
    return api.sealed(response)
  }
}

const NOT_FOUND: Problem = { status: 404, kind: 'no_route', title: 'There is nothing here' }

const ASK_FOR_TOKEN = { 'www-authenticate': 'Bearer realm="reprise"' }
const NO_TOKEN: Problem = {
  status: 401,
  kind: 'no_token',
  title: 'A token is needed: Authorization: Bearer TOKEN',
  headers: ASK_FOR_TOKEN,
}
/** Also for an `Authorization` that is not a bearer token. */
const UNKNOWN_TOKEN: Problem = {
  status: 401,
  kind: 'unknown_token',
  title: 'The server does not know this token',
  detail: 'send one of its tokens as Authorization: Bearer TOKEN; a server reads its tokens when it starts',
  headers: ASK_FOR_TOKEN,
}

/** Of every answer. Nothing of it is a page, and nobody keeps it. */
const HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

class Api {
  private readonly options: ApiOptions
  private readonly bounds: Bounds
  private readonly memory: BodyMemory
  private readonly openPaths: ReadonlySet<string>

  constructor(options: ApiOptions) {
    this.options = options
    this.openPaths = new Set(options.routes.filter(({ access }) => access === 'open').map(({ path }) => path))
    this.bounds = { ...BOUNDS, ...options.bounds }
    this.memory = new BodyMemory(this.bounds.bodyMemoryBytes)
  }

  /** What is refused whatever is asked for. Whether the server lives may be asked under any name. */
  refusalOf(request: Request, env: NodeBindings | undefined): Problem | undefined {
    if (this.openPaths.has(new URL(request.url).pathname)) return undefined
    const refusal = intruder(request, hostOf(request, env), this.options.perimeter)
    if (refusal !== undefined) return refusal
    if (this.bearerOf(request) !== undefined) return undefined
    return request.headers.has('authorization') ? UNKNOWN_TOKEN : NO_TOKEN
  }

  /** `routes`: those of the path. */
  async answer(
    routes: readonly Route[],
    request: Request,
    inPath: Readonly<Record<string, string>>,
  ): Promise<Response> {
    const method = request.method === 'HEAD' ? 'GET' : request.method
    const route = routes.find((one) => one.method === method)
    if (route === undefined) throw new ProblemError(wrongMethod(routes))
    const bearer = this.bearerOf(request) ?? STRANGER
    const isChange = route.method === 'POST'
    if (isChange) this.expectChange(route, request, bearer)
    const limit = route.bodyLimit ?? this.bounds.bodyBytes
    const body = isChange ? await readJsonBody(request, limit, this.memory) : undefined
    const input = readInput(route, { inPath, query: new URL(request.url).searchParams, body })
    return this.perform(route, input, bearer.name, request.signal)
  }

  /** Every answer says how a browser is to treat it. */
  sealed(response: Response): Response {
    for (const [name, value] of Object.entries(HEADERS)) response.headers.set(name, value)
    // A connection that stays open would keep the server from ending.
    if (this.options.stopping.aborted) response.headers.set('connection', 'close')
    return response
  }

  private bearerOf(request: Request): Bearer | undefined {
    const { tokens } = this.options
    return tokens === null ? EVERYBODY : tokens.find(request.headers.get('authorization'))
  }

  private expectChange(route: Route, request: Request, { access }: Bearer): void {
    const fault = this.changeFault(route, request.headers, access)
    if (fault !== undefined) throw new ProblemError(fault)
  }

  private changeFault({ access: needed }: Route, headers: Headers, access: Bearer['access']): Problem | undefined {
    if (access !== 'act') return { status: 403, kind: 'view_only', title: 'This token may look, and not act' }
    if (needed === 'operate' && !this.options.allowsChanges) {
      const title = 'The server was started without --allow-changes'
      return { status: 403, kind: 'read_only', title }
    }
    if (!/^application\/json(?: *; *charset="?utf-8"?)?$/i.test(headers.get('content-type') ?? ''))
      return { status: 415, kind: 'wrong_type', title: 'A change is sent as application/json' }
    if (headers.has('content-encoding'))
      return { status: 415, kind: 'wrong_encoding', title: 'A change is sent as it is, without an encoding' }
    // No form and no link of another site can send it.
    if (!headers.has('x-reprise'))
      return { status: 403, kind: 'no_header', title: 'A change needs the header X-Reprise, such as X-Reprise: 1' }
    return undefined
  }

  private async perform(route: Route, input: Input, by: string, gone: AbortSignal): Promise<Response> {
    const { stopping, operations } = this.options
    const operation = operations[route.operation]
    if (operation === undefined) throw new TypeError(`No operation is called ${route.operation}`)
    const answered = await endedBy([stopping, gone], this.bounds.requestMs, (signal) =>
      operation(input, { by, signal }),
    )
    if (answered === null && route.absent !== undefined) {
      const { kind, title } = route.absent
      if (route.access === 'open') return textResponse('not ready\n', 503)
      return problemResponse(stopping.aborted ? closing() : { status: 409, kind, title })
    }
    if (route.type === 'text/plain') return textResponse(String(answered), 200)
    return new Response(`${jsonText(answered)}\n`, { headers: { 'content-type': 'application/json' } })
  }
}

function wrongMethod(routes: readonly Route[]): Problem {
  const allow = routes.map(({ method }) => (method === 'GET' ? 'GET, HEAD' : method)).join(', ')
  const title = 'The path does not take this method'
  return { status: 405, kind: 'wrong_method', title, detail: `it takes ${allow}`, headers: { allow } }
}

/** The body of a metric has a version of its own. */
function textResponse(text: string, status: number): Response {
  const type = text.startsWith('# HELP') ? 'text/plain; version=0.0.4; charset=utf-8' : 'text/plain; charset=utf-8'
  return new Response(text, { status, headers: { 'content-type': type } })
}

/** `act` is told when one of `signals` aborts, and given up after `limitMs`. */
async function endedBy<T>(
  signals: readonly AbortSignal[],
  limitMs: number,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  // Not `AbortSignal.any`: the server's own signal would keep one for every request there has been.
  const ending = new AbortController()
  const end = (): void => ending.abort()
  for (const signal of signals) signal.addEventListener('abort', end)
  if (signals.some(({ aborted }) => aborted)) end()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      end()
      reject(new ProblemError(TOO_SLOW))
    }, limitMs)
  })
  try {
    return await Promise.race([act(ending.signal), late])
  } finally {
    clearTimeout(timer)
    for (const signal of signals) signal.removeEventListener('abort', end)
  }
}

const TOO_SLOW: Problem = {
  status: 503,
  kind: 'too_slow',
  title: 'The answer took too long',
  headers: { 'retry-after': '1' },
}

/** As it was sent: the address of a request may be another one. Sent twice it is none. */
function hostOf(request: Request, env: NodeBindings | undefined): string | null {
  const raw = env?.incoming?.rawHeaders
  if (raw === undefined) return request.headers.get('host') ?? new URL(request.url).host
  const hosts = raw.filter((_text, index) => index % 2 === 1 && raw[index - 1]?.toLowerCase() === 'host')
  return hosts.length === 1 ? (hosts[0] ?? null) : null
}
