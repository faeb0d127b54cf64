/** What of a single step no table can say. Imports located values and findings. */
import type { Findings } from '../document/findings.js'
import { fieldOf, hasFields, itemsOf, type LocatedValue } from '../document/located.js'

export function checkStep(findings: Findings, step: LocatedValue, retry: LocatedValue | undefined): void {
  checkTimeout(findings, step, retry)
  checkProgram(findings, step)
  checkRequest(findings, step)
}

function checkTimeout(findings: Findings, step: LocatedValue, retry: LocatedValue | undefined): void {
  const timeout = fieldOf(findings.source, step, 'attempt_timeout') ?? fieldOf(findings.source, step, 'timeout')
  if (timeout === undefined || retry === undefined) return
  const same = ['attempt_timeout', 'attemptTimeout'].find((key) => fieldOf(findings.source, retry, key) !== undefined)
  if (same === undefined) return
  const message = `\`${retry.name}.${same}\` says the same: keep one of them`
  findings.fail(timeout, message, 'the limit of all attempts together is `retry.timeout`', true)
}

function checkProgram(findings: Findings, step: LocatedValue): void {
  const run = fieldOf(findings.source, step, 'run')
  const program = run && itemsOf(findings.source, run)[0]
  if (program !== undefined && typeof program.data === 'string' && program.data.trim() === '') {
    findings.fail(program, 'the program is blank', 'such as `[psql, -f, load.sql]`')
  }
}

function checkRequest(findings: Findings, step: LocatedValue): void {
  const http = fieldOf(findings.source, step, 'http')
  if (http === undefined || !hasFields(http.data)) return
  const { url, method, body } = http.data
  const address = fieldOf(findings.source, http, 'url')
  // What a reference gives is only known when it runs.
  if (address !== undefined && typeof url === 'string' && !url.includes('${') && !isWebAddress(url)) {
    const message = `${JSON.stringify(url)} is not an address of the web`
    findings.fail(address, message, 'it begins with `https://` or `http://`')
  }
  const place = fieldOf(findings.source, http, 'body')
  if (place !== undefined && body !== null && (method === 'GET' || method === 'HEAD')) {
    findings.fail(place, `a ${method} has no body`, 'did you mean `method: POST`?', true)
  }
}

function isWebAddress(url: string): boolean {
  return /^https?:\/\//i.test(url) && URL.canParse(url)
}
