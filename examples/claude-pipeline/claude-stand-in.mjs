#!/usr/bin/env node
/**
 * Takes the place of the program `claude` in print mode: `claude -p PROMPT [--output-format json]`. The first prompt
 * meets an API that is overloaded, then one that limits the rate.
 */
import { parseArgs } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'

const attempt = Number(process.env.REPRISE_ATTEMPT ?? 1)
const { values } = parseArgs({
  options: { print: { type: 'string', short: 'p' }, 'output-format': { type: 'string', default: 'text' } },
})
const prompt = values.print ?? ''

function fail(message) {
  console.error(`API Error: ${message}`)
  process.exit(1)
}

function answer() {
  if (prompt.startsWith('Answer with yes or no')) return 'yes'
  if (prompt.startsWith('Give these')) return 'Orders, exported'
  if (attempt === 1) fail('529 {"type":"overloaded_error","message":"Overloaded"}')
  if (attempt === 2) fail('429 {"type":"rate_limit_error"}')
  const lines = prompt.split('\n').filter((line) => /^(feat|fix):/.test(line))
  return lines.map((line) => `- ${line.replace(/^\w+: /, '')}`).join('\n')
}

await sleep(300)
const result = answer()
console.log(values['output-format'] === 'json' ? JSON.stringify({ type: 'result', result }) : result)
