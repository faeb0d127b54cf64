/**
 * `http:` a request. The answer goes to the log as it comes, and as far as it may be captured into memory.
 * Redirects are followed
 * here, not by `fetch`, which would send the step's headers and body to any origin. Imports Node's `fetch`, and what a
 * request, a redirect and its failure are.
 */
import type { HttpAction } from '../plan/plan.js'
import { captureExceeded } from '../values/capture.js'
import { failureOfAnswer, failureOfNetwork, HttpError } from './http-error.js'
import { MOST_REDIRECTS, type RedirectAnswer, redirected } from './http-redirect.js'
import { fetchable, type HttpRequest, requestOf, shownOf } from './http-request.js'
import type { StepContext, StepOutput } from './step-context.js'

/** Of an answer that was not expected, so much is logged; the rest is not waited for. */
const MAX_FAILURE_BYTES = 1024 * 1024
const MAX_FAILURE_SHOWN = 4096

export async function runHttp(action: HttpAction, context: StepContext): Promise<StepOutput> {
  const { signal, captureBytes } = context
  let request = requestOf(action, context)
  let shown = shownOf(request)
  try {
    let response = await ask(request, context)
    for (let count = 0; !action.expect.status.includes(response.status); count++) {
      const next = redirected(request, answerOf(response), action.redirectOrigins)
      if (next === undefined) break
      if (count === MOST_REDIRECTS) throw new HttpError(`${shown}: more than ${MOST_REDIRECTS} redirects`, {})
      await response.body?.cancel()
      request = next
      shown = shownOf(request)
      response = await ask(request, context)
    }
    const { status } = response
    if (!isExpected(action, status)) {
      const { text } = await read(response, context, { keep: MAX_FAILURE_SHOWN, most: MAX_FAILURE_BYTES })
      throw failureOfAnswer(shown, response, text)
    }
    const most = captureBytes > 0 ? captureBytes : Infinity
    const { text, isWhole } = await read(response, context, { keep: captureBytes, most })
    if (!isWhole) throw captureExceeded(captureBytes)
    return { output: text, exitCode: 0, status }
  } catch (error) {
    signal.throwIfAborted()
    // What `fetch` and the body's stream reject with.
    if (error instanceof TypeError) throw failureOfNetwork(shown, error)
    throw error
  }
}

async function ask(request: HttpRequest, { signal, log }: StepContext): Promise<Response> {
  const response = await fetch(fetchable(request), { signal })
  await log('stderr', Buffer.from(`${shownOf(request)} → ${response.status} ${response.statusText}\n`))
  return response
}

function answerOf({ status, headers }: Response): RedirectAnswer {
  return { status, location: headers.get('location') }
}

function isExpected({ expect }: HttpAction, status: number): boolean {
  return expect.status.length === 0 ? status >= 200 && status <= 299 : expect.status.includes(status)
}

/** Logs the body up to `most` bytes, and keeps the first ones. Leaving the loop gives the connection up. */
async function read(
  response: Response,
  { log }: StepContext,
  { keep, most }: { readonly keep: number; readonly most: number },
): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  const kept: Uint8Array[] = []
  let seen = 0
  for await (const chunk of response.body ?? []) {
    if (seen < keep) kept.push(chunk.subarray(0, keep - seen))
    seen += chunk.length
    await log('stdout', chunk)
    if (seen > most) break
  }
  return { text: new TextDecoder().decode(Buffer.concat(kept)), isWhole: seen <= most }
}
