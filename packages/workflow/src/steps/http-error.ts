/**
 * A request that failed, as an error that says what policies read: `status`, `Retry-After` in `headers`, the `code` of the
 * system. Never in it: credentials of the address, its query, headers that were sent. Imports nothing of Node.
 */
import { SetupError } from '../values/setup-error.js'

const MAX_BODY_SHOWN = 200

export class HttpError extends Error {
  declare readonly status?: number
  /** Of the answer, what a policy reads. */
  declare readonly headers?: Readonly<Record<string, string>>
  declare readonly code?: string

  constructor(
    message: string,
    facts: {
      readonly status?: number
      readonly headers?: Readonly<Record<string, string>>
      readonly code?: string
      readonly cause?: unknown
    },
  ) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    if (facts.status !== undefined) this.status = facts.status
    if (facts.headers !== undefined) this.headers = facts.headers
    if (facts.code !== undefined) this.code = facts.code
  }

  override get name(): string {
    return 'HttpError'
  }
}

/** An answer that was not expected; `body` is its beginning. */
export function failureOfAnswer(request: string, response: Response, body: string): HttpError {
  const { status, statusText } = response
  const line =
    body
      .split(/[\r\n]+/)
      .find((text) => text.trim() !== '')
      ?.replaceAll(/\p{Cc}+/gu, ' ')
      .trim() ?? ''
  const shown = line.length > MAX_BODY_SHOWN ? `${line.slice(0, MAX_BODY_SHOWN)}…` : line
  const said = [`${status}`, statusText].filter(Boolean).join(' ')
  const retryAfter = response.headers.get('retry-after')
  return new HttpError(`${request} → ${said}${shown === '' ? '' : `: ${shown}`}`, {
    status,
    ...(retryAfter !== null && { headers: { 'retry-after': retryAfter } }),
  })
}

/** No answer, or not all of it. */
export function failureOfNetwork(request: string, error: unknown): Error {
  const root = rootOf(error)
  if (root.message === 'bad port') {
    const why = 'the port belongs to another protocol, and requests to it are never sent'
    return new SetupError('unusable_value', `${request}: ${why}`)
  }
  const code = (root as { code?: unknown }).code
  return new HttpError(`${request}: ${root.message || String(code ?? 'no answer')}`, {
    cause: error,
    ...(typeof code === 'string' && { code }),
  })
}

/** `fetch failed` says nothing: its cause does, or the first of several addresses that were tried. */
function rootOf(error: unknown): Error {
  let root = error instanceof Error ? error : new Error(String(error))
  for (let depth = 0; depth < 5; depth++) {
    const inner: unknown = root instanceof AggregateError ? root.errors[0] : root.cause
    if (!(inner instanceof Error)) break
    root = inner
  }
  return root
}
