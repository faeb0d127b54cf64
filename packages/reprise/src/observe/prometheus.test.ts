import { expect, test } from 'vitest'
import { createMetrics } from './metrics.js'
import { PROMETHEUS_CONTENT_TYPE, prometheus } from './prometheus.js'

interface ParsedSample {
  readonly name: string
  readonly labels: Record<string, string>
  readonly value: number
}

const UNESCAPED: Record<string, string> = { '\\\\': '\\', '\\"': '"', '\\n': '\n' }

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {}
  let rest = text
  while (rest !== '') {
    const match = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(?:,(?=[a-z])|$)/.exec(rest)
    if (match?.[1] === undefined || match[2] === undefined) throw new Error(`not labels: ${rest}`)
    if (match[1] in labels) throw new Error(`label ${match[1]} twice`)
    labels[match[1]] = match[2].replaceAll(/\\[\\"n]/g, (escape) => UNESCAPED[escape] ?? '')
    rest = rest.slice(match[0].length)
  }
  return labels
}

/** Strict: every line is HELP, TYPE or a sample of the family announced last; no series occurs twice. */
function parse(text: string): { samples: ParsedSample[]; types: Map<string, string> } {
  if (!text.endsWith('\n')) throw new Error('the last line must end')
  const samples: ParsedSample[] = []
  const types = new Map<string, string>()
  const seen = new Set<string>()
  let family = ''
  for (const line of text.slice(0, -1).split('\n')) {
    const help = /^# HELP (\w+) \S.*$/.exec(line)
    const type = /^# TYPE (\w+) (counter|gauge|histogram)$/.exec(line)
    const sample = /^([a-zA-Z_:][\w:]*)\{(.*)\} (\d+(?:\.\d+)?(?:e[+-]\d+)?)$/.exec(line)
    if (help?.[1] !== undefined) {
      family = help[1]
      if (types.has(family)) throw new Error(`${family} twice`)
    } else if (type?.[2] !== undefined && type[1] === family) {
      types.set(family, type[2])
    } else if (sample?.[1] !== undefined && sample[1].replace(suffixes(types.get(family)), '') === family) {
      const labels = parseLabels(sample[2] ?? '')
      const id =
        sample[1] +
        JSON.stringify(
          labels,
          Object.keys(labels).toSorted((a, b) => a.localeCompare(b)),
        )
      if (seen.has(id)) throw new Error(`series twice: ${id}`)
      seen.add(id)
      samples.push({ name: sample[1], labels, value: Number(sample[3]) })
    } else throw new Error(`not a line of the format: ${line}`)
  }
  return { samples, types }
}

const suffixes = (type: string | undefined): RegExp => (type === 'histogram' ? /_(?:bucket|sum|count)$/ : /$^/)

const base = { timeMs: 0, key: 'api', callId: 1, attempt: 1, attempts: 3 }
const end = { attemptsMade: 1, launches: 1, totalDelayMs: 0, elapsedMs: 1 }

test('the content type names the version of the format', () => {
  expect(PROMETHEUS_CONTENT_TYPE).toBe('text/plain; version=0.0.4; charset=utf-8')
})

test('every metric is announced with its type, counted or not', () => {
  const { samples, types } = parse(prometheus(createMetrics()))
  expect(samples).toEqual([])
  expect(Object.fromEntries(types)).toEqual({
    reprise_calls_total: 'counter',
    reprise_attempts_total: 'counter',
    reprise_wait_seconds: 'histogram',
    reprise_attempt_seconds: 'histogram',
    reprise_budget_decisions_total: 'counter',
    reprise_breaker_state: 'gauge',
    reprise_parked: 'gauge',
    reprise_task_events_total: 'counter',
  })
})

test('a histogram has growing buckets, of which +Inf equals the count', () => {
  const metrics = createMetrics()
  for (const delayMs of [1, 5, 400, 120_000]) {
    metrics.onEvent({ ...base, type: 'waiting', delayMs, nextAttempt: 2, error: undefined })
  }
  const { samples } = parse(prometheus(metrics))
  const buckets = samples.filter((sample) => sample.name === 'reprise_wait_seconds_bucket')
  expect(buckets.map(({ labels, value }) => [labels['le'], value])).toEqual([
    ['0.005', 2],
    ['0.025', 2],
    ['0.1', 2],
    ['0.25', 2],
    ['0.5', 3],
    ['1', 3],
    ['2.5', 3],
    ['5', 3],
    ['10', 3],
    ['30', 3],
    ['+Inf', 4],
  ])
  expect(samples.find((sample) => sample.name === 'reprise_wait_seconds_sum')?.value).toBe(120.406)
  expect(samples.find((sample) => sample.name === 'reprise_wait_seconds_count')?.value).toBe(4)
})

test('a hostile key can break neither its line nor another series', () => {
  const hostile = [
    'a"} 1\nreprise_calls_total{key="forged',
    'back\\slash',
    'ends with a backslash\\',
    '__proto__',
    'new\nline',
    'emoji 🎷 and 名前',
  ]
  const metrics = createMetrics()
  for (const key of hostile) metrics.onEvent({ ...base, key, type: 'call_succeeded', ...end })
  const calls = parse(prometheus(metrics)).samples
  expect(calls.map((sample) => sample.labels['key'])).toEqual(hostile)
  expect(calls.every((sample) => sample.value === 1 && sample.labels['result'] === 'success')).toBe(true)
})

test('keys that no encoding tells apart are one series, and other line breaks do not reach the text', () => {
  const metrics = createMetrics()
  for (const key of ['\ud800', '\udfff', 'a\rb', 'a\u2028b', 'a\u001bb']) {
    metrics.onEvent({ ...base, key, type: 'call_succeeded', ...end })
  }
  const { samples } = parse(prometheus(metrics))
  expect(samples.map(({ labels, value }) => [labels['key'], value])).toEqual([
    ['\ufffd', 2],
    ['a\ufffdb', 3],
  ])
})
