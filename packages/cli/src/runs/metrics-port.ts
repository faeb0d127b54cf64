/** `--metrics-port`: metrics without a token, on a port that only monitoring reaches. Imports the dashboard package. */
import type { Jobs } from '@reprise/jobs'
import { UsageError } from '../failures.js'

/** Where the metrics are served. */
export interface MetricsAddress {
  readonly host: string
  readonly port: number
}

/** `9464`, `0.0.0.0:9464` or `[::1]:9464`; undefined if it was not given. */
export function metricsAddress(text: string | undefined): MetricsAddress | undefined {
  if (text === undefined) return undefined
  const [, bracketed, plain, digits] = /^(?:(?:\[([0-9a-f:.]+)\]|([^:[\]\s]+)):)?(\d{1,5})$/i.exec(text) ?? []
  const port = Number(digits)
  if (digits !== undefined && port <= 65_535) return { host: bracketed ?? plain ?? '127.0.0.1', port }
  throw new UsageError(`--metrics-port ${text} is no port`, 'such as 9464, or 0.0.0.0:9464 for other machines too')
}

export interface MetricsServer {
  /** Where it listens, such as `http://127.0.0.1:9464/metrics`. */
  readonly url: string
  close(): Promise<void>
}

/** The metrics of all jobs of the store that these are of. */
export async function serveJobMetrics(jobs: Jobs, address: MetricsAddress): Promise<MetricsServer> {
  const { metricsPage } = await import('@reprise/dashboard/internal')
  return serveMetrics(metricsPage(jobs), address)
}

/** `page`: gives the metrics as the text that Prometheus reads. The server is loaded only here. */
export async function serveMetrics(page: () => Promise<string>, address: MetricsAddress): Promise<MetricsServer> {
  const { ListenError, serveMetrics: serve } = await import('@reprise/dashboard/internal')
  try {
    const server = await serve(page, address)
    return { url: `${server.url}/metrics`, close: () => server.close() }
  } catch (error) {
    if (!(error instanceof ListenError)) throw error
    const { host, port } = address
    const cure = 'choose another port, or 0 for any that is free'
    throw new UsageError(`--metrics-port ${host}:${port}: ${error.message}`, cure)
  }
}
