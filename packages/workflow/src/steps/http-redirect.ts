/**
 * Where a redirect leads, and what may go there. Pure. Imports the request and its errors.
 *
 * Invariant: an origin that is neither the one of the step's address nor named in `redirect_origins` gets neither the
 * step's headers nor its body: whoever can answer with a redirect would otherwise choose who reads its tokens.
 */
import { HttpError } from './http-error.js'
import { type HttpRequest, shownOf } from './http-request.js'

/** As browsers and `fetch` do. */
export const MOST_REDIRECTS = 20
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
/** Say nothing of who asks. */
const HARMLESS: readonly string[] = ['accept', 'accept-language']
const ABOUT_BODY: readonly string[] = ['content-type', 'content-encoding', 'content-language', 'content-location']

export interface RedirectAnswer {
  readonly status: number
  readonly location: string | null
}

/** The request that follows an answer; undefined if the answer is no redirect. */
export function redirected(
  request: HttpRequest,
  { status, location }: RedirectAnswer,
  allowedOrigins: readonly string[],
): HttpRequest | undefined {
  if (!REDIRECTS.has(status) || location === null) return undefined
  const url = targetOf(request, status, location)
  const next = { ...turned(request, status), url }
  if (url.origin === request.url.origin || allowedOrigins.some((origin) => originOf(origin) === url.origin)) return next
  if (next.body !== null) {
    const cure = `allow it with \`redirect_origins: [${url.origin}]\``
    throw final(`${shownOf(request)} → ${status}: the body is not sent on to another origin, ${url.origin}; ${cure}`)
  }
  return { ...next, headers: only(next.headers, HARMLESS) }
}

/** Before it is compared: `HTTPS://Example.com:443` is `https://example.com`. */
function originOf(text: string): string {
  return URL.canParse(text) ? new URL(text).origin : text
}

function targetOf(request: HttpRequest, status: number, location: string): URL {
  const url = URL.canParse(location, request.url.href) ? new URL(location, request.url) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw final(`${shownOf(request)} → ${status}: the address of the redirect is none of the web`)
  }
  // `fetch` refuses them, and nobody here has chosen them.
  url.username = ''
  url.password = ''
  return url
}

/** As `fetch` has it: a POST becomes a GET unless the status says that the method stays. */
function turned(request: HttpRequest, status: number): HttpRequest {
  const { method } = request
  const becomesGet = status === 303 ? method !== 'GET' && method !== 'HEAD' : status < 303 && method === 'POST'
  if (!becomesGet) return request
  const headers = new Headers(request.headers)
  for (const name of [...ABOUT_BODY, 'idempotency-key']) headers.delete(name)
  return { ...request, method: 'GET', headers, body: null }
}

function only(headers: Headers, names: readonly string[]): Headers {
  return new Headers([...headers].filter(([name]) => names.includes(name)))
}

/** Another attempt would be redirected likewise. */
function final(message: string): HttpError {
  return Object.assign(new HttpError(message, {}), { retryable: false })
}
