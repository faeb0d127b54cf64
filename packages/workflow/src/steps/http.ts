/**
 * `http:` a request. The answer goes to the log as it comes, and as far as it may be captured into memory.
 * Imports Node's `fetch`, and what a request and its failure are.
 */
import type { HttpAction } from '../plan/plan.js'
import { captureExceeded } from '../values/capture.js'
import { failureOfAnswer, failureOfNetwork } from './http-error.js'
import { requestOf } from './http-request.js'
import type { StepContext, StepOutput } from './step-context.js'

/** Of an answer that was not expected, so much is logged; the rest is not waited for. */
const MAX_FAILURE_BYTES = 1024 * 1024
const MAX_FAILURE_SHOWN = 4096

export async function runHttp(action: HttpAction, context: StepContext): Promise<StepOutput> {
  const { signal, captureBytes } = context
  const { request, shown } = requestOf(action, context)
  try {
    const response = await fetch(request, { signal })
    const { status, statusText } = response
    await context.log('stderr', Buffer.from(`${shown} → ${status} ${statusText}\n`))
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
