/**
 * A server with nothing but `GET /metrics`, for a port that only monitoring reaches: no token, and any name. Imports the
 * server.
 */
import { PROMETHEUS_CONTENT_TYPE } from 'reprise/observe'
import { describeError } from 'reprise/internal'
import type { FetchHandler } from './api.js'
import { listen, type ListenAddress, type Listening } from './listen.js'

/** `page`: gives the metrics as the text that Prometheus reads. */
export async function serveMetrics(page: () => Promise<string>, address: ListenAddress): Promise<Listening> {
  return listen(address, () => metricsHandler(page))
}

function metricsHandler(page: () => Promise<string>): FetchHandler {
  return async ({ url, method }) => {
    if (new URL(url).pathname !== '/metrics') return answer(404, 'Metrics are at /metrics\n')
    if (method !== 'GET' && method !== 'HEAD') return answer(405, 'GET only\n')
    try {
      return answer(200, await page(), PROMETHEUS_CONTENT_TYPE)
    } catch (error) {
      return answer(503, `The store cannot be read: ${describeError(error)}\n`)
    }
  }
}

function answer(status: number, text: string, type = 'text/plain; charset=utf-8'): Response {
  return new Response(text, { status, headers: { 'content-type': type, 'cache-control': 'no-store' } })
}
