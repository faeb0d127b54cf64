/**
 * The operations on jobs, asked of a gate: requests are made from the same table of routes as a gate's handlers. A gate that
 * does not answer, or says that it cannot at the moment, is asked again: it may be starting, or another one takes its place.
 * Imports the jobs package, the library and Node.
 *
 * Invariant: a request that is sent again changes nothing twice. A job is submitted with an id or a key, and to cancel twice
 * is to cancel.
 */
import { request as requestHttp, type RequestOptions } from 'node:http'
import { request as requestHttps } from 'node:https'
import { bodyFields, JOB_ROUTES, type Caller, type JobOperations, type Route } from '@reprise/jobs/internal'
import { isRepriseError, retry } from 'reprise'
import { type RefusalKind, TaskRefusedError } from 'reprise/durable'
import { describeError, plainText } from 'reprise/internal'
import { RefusedError, StoreError, UsageError } from '../../failures.js'

export interface GateClientOptions {
  readonly url: URL
  /** Undefined: the gate needs none. */
  readonly token: string | undefined
  /** Hears why the gate is asked again. */
  readonly onTrouble: (text: string) => void
  /** How long it is asked again. */
  readonly patience: string
}

interface Answer {
  readonly status: number
  readonly text: string
}

type Input = Readonly<Record<string, unknown>>

/** Longer than a gate holds a request, so that a silent connection is found. */
const SILENT_MS = 40_000

/** What the next attempt may find otherwise. */
const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504])

export function gateOperations(options: GateClientOptions): JobOperations {
  const operations = JOB_ROUTES.map((route) => [
    route.operation,
    (input: Input, caller: Caller) => perform(route, input, caller, options),
  ])
  return Object.fromEntries(operations) as JobOperations
}

async function perform(route: Route, input: Input, caller: Caller, options: GateClientOptions): Promise<unknown> {
  const answer = await persistently(route, input, caller, options)
  if (answer.status === 200) return JSON.parse(answer.text) as unknown
  return refused(route, answer, options.url)
}

/** Also an answer that says that the request was wrong is one. */
async function persistently(
  route: Route,
  input: Input,
  { signal }: Caller,
  { url, token, onTrouble, patience }: GateClientOptions,
): Promise<Answer> {
  const policy = {
    attempts: 1000,
    initialDelay: '100ms',
    maxDelay: '2s',
    jitter: 'full',
    maxTotalDelay: patience,
  } as const
  let lastTrouble = ''
  const ask = async (context: { readonly signal: AbortSignal }): Promise<Answer> => {
    try {
      const answer = await send(route, input, url, token, context.signal)
      if (!PASSING.has(answer.status)) return answer
      throw new Error(`it answered ${answer.status}: ${titleIn(answer)}`)
    } catch (error) {
      const trouble = describeError(error)
      if (trouble !== lastTrouble && signal?.aborted !== true) onTrouble(trouble)
      lastTrouble = trouble
      throw error
    }
  }
  try {
    return await retry(ask, policy, signal && { signal })
  } catch (error) {
    if (signal?.aborted === true) throw error
    const why = describeError(isRepriseError(error) ? error.cause : error)
    throw new StoreError(
      `The gate ${shown(url)} does not answer: ${why}`,
      'is it running? start one: reprise gate',
      error,
    )
  }
}

function send(route: Route, input: Input, url: URL, token: string | undefined, signal: AbortSignal): Promise<Answer> {
  const body = bodyOf(route, input)
  const headers = {
    accept: 'application/json',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(body !== undefined && { 'content-type': 'application/json', 'x-reprise': '1' }),
    ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
  }
  const options: RequestOptions = { method: route.method, headers, signal, timeout: SILENT_MS }
  return new Promise((resolve, reject) => {
    const path = pathOf(route, input)
    const isSocket = url.protocol === 'unix:'
    const start = url.protocol === 'https:' ? requestHttps : requestHttp
    const target = isSocket ? new URL(`http://localhost${path}`) : new URL(path, url)
    const sent = start(target, isSocket ? { ...options, socketPath: url.pathname } : options)
    sent.on('timeout', () => sent.destroy(new Error('it is silent')))
    sent.on('error', reject)
    sent.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      response.on('error', reject)
      response.on('aborted', () => reject(new Error('the connection was closed in the middle of the answer')))
    })
    sent.end(body)
  })
}

function pathOf({ path, inQuery = [] }: Route, input: Input): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(String(input[name])))
  const query = new URLSearchParams()
  for (const { name } of inQuery) if (input[name] !== undefined) query.set(name, String(input[name]))
  return query.size === 0 ? filled : `${filled}?${query.toString()}`
}

/** Undefined: the route has none. */
function bodyOf(route: Route, input: Input): string | undefined {
  const { body } = route
  if (body === undefined) return undefined
  if ('whole' in body) return JSON.stringify(input[body.whole])
  return JSON.stringify(Object.fromEntries(bodyFields(route).map(({ name }) => [name, input[name]])))
}

interface ProblemFields {
  readonly kind?: string
  readonly title?: string
  readonly detail?: string
  readonly problems?: readonly { readonly path: string; readonly message: string; readonly suggestion?: string }[]
}

/** A proxy in between answers with a page. */
function problemIn({ text }: Answer): ProblemFields {
  try {
    return JSON.parse(text) as ProblemFields
  } catch {
    return {}
  }
}

function titleIn(answer: Answer): string {
  const { title, detail } = problemIn(answer)
  return plainText(detail ?? title ?? answer.text)
}

const TOKEN_UNKNOWN = 'check REPRISE_GATE_TOKEN or --token-file; a gate reads its tokens when it starts'

/** Null where the route says what that means. */
function refused(route: Route, answer: Answer, url: URL): null {
  const { kind = '', problems = [] } = problemIn(answer)
  const said = titleIn(answer)
  if (route.absent !== undefined && kind === route.absent.kind) return null
  switch (answer.status) {
    case 400: {
      const [first] = problems
      const message = problems.map((problem) => `${problem.path}: ${problem.message}`).join('; ')
      throw new UsageError(message === '' ? said : message, first?.suggestion)
    }
    case 401:
      throw kind === 'unknown_token'
        ? new UsageError(`The gate ${shown(url)} does not know this token`, TOKEN_UNKNOWN)
        : new UsageError(`The gate ${shown(url)} needs a token`, 'set REPRISE_GATE_TOKEN, or name a file: --token-file')
    case 403:
    case 413:
      throw new RefusedError({ kind: 'not_possible', message: `The gate ${shown(url)} refuses: ${said}` })
    case 421:
      throw new UsageError(`The gate does not go by the name ${url.host}`, 'its operator says which: --public-url')
    case 409:
      throw new TaskRefusedError(kind as RefusalKind, said)
    case 404:
      if (kind === 'not_found') throw new TaskRefusedError(kind, said)
  }
  throw new StoreError(`The gate ${shown(url)} answered ${answer.status}: ${said}`)
}

/** Without a password, which an address may have. */
function shown(url: URL): string {
  return url.protocol === 'unix:' ? `unix:${url.pathname}` : url.origin
}
