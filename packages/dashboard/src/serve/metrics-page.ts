/**
 * The metrics of a store as Prometheus reads them, read when they are asked for. Requests that come while they are read share
 * the answer. Imports the jobs' types and the library.
 */
import type { JobMetric } from '@reprise/jobs'
import { prometheus } from 'reprise/observe'

/** What is read. */
export interface MetricsSource {
  metrics(): Promise<readonly JobMetric[]>
}

/** One reading at a time, however many ask. */
export function metricsPage(source: MetricsSource): () => Promise<string> {
  let reading: Promise<string> | undefined
  return () => {
    reading ??= source
      .metrics()
      .then(textOf)
      .finally(() => {
        reading = undefined
      })
    return reading
  }
}

function textOf(metrics: readonly JobMetric[]): string {
  const names = [...new Set(metrics.map(({ name }) => name))]
  const families = names.flatMap((name) => {
    const samples = metrics.filter((one) => one.name === name)
    const [first] = samples
    return first === undefined ? [] : [{ name, help: first.help, type: first.type, samples }]
  })
  return prometheus({ read: () => families })
}
