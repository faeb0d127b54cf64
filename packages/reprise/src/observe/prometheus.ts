/**
 * Metrics as Prometheus reads them: text exposition format 0.0.4. The program serves the text itself, with the content
 * type below. Imports types only.
 */
import type { HistogramSample, MetricFamily } from './metric-family.js'
import type { Metrics } from './metrics.js'

/** The content type to serve the text of `prometheus` with. */
export const PROMETHEUS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** The metrics as Prometheus reads them: text exposition format 0.0.4. @example const body = prometheus(metrics) */
export function prometheus(observer: Pick<Metrics, 'read'>): string {
  return observer.read().map(familyText).join('')
}

function familyText(family: MetricFamily): string {
  const lines = [`# HELP ${family.name} ${escapeHelp(family.help)}`, `# TYPE ${family.name} ${family.type}`]
  if (family.type === 'histogram') {
    for (const sample of family.samples) lines.push(...histogramLines(family.name, sample))
  } else {
    for (const { labels, value } of family.samples) lines.push(line(family.name, labels, value))
  }
  return `${lines.join('\n')}\n`
}

function histogramLines(name: string, { labels, buckets, sum, count }: HistogramSample): string[] {
  return [
    ...buckets.map((bucket) => line(`${name}_bucket`, { ...labels, le: String(bucket.le) }, bucket.count)),
    line(`${name}_bucket`, { ...labels, le: '+Inf' }, count),
    line(`${name}_sum`, labels, sum),
    line(`${name}_count`, labels, count),
  ]
}

function line(name: string, labels: Readonly<Record<string, string>>, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`)
  return `${name}{${pairs.join(',')}} ${value}`
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"')
}
