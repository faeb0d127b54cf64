/** What of a single map no table can say. Imports located values, findings and what a map means. */
import type { Findings } from '../document/findings.js'
import { fieldOf, hasFields, type LocatedValue } from '../document/located.js'
import { formatOfName, MAX_ITEMS } from './map-plan.js'
import type { LocatedMap } from './located-phases.js'

/** Inputs that are read, and so have a format. */
const READ_INPUTS = ['file', 'command', 'shell', 'run', 'stdin']
/** With one of these, a map may have fewer items than its input. */
const SELECTIONS = ['filter', 'distinct', 'offset', 'max_items']
/** When `item_retry` does not say how many. */
const USUAL_ATTEMPTS = 3

export function checkMap(findings: Findings, map: LocatedMap): void {
  const { located, errorPolicy, otherPolicy } = map
  if (otherPolicy !== undefined) {
    findings.fail(otherPolicy, '`error_policy` stands beside `map` already: keep one of them', undefined, true)
  }
  checkInput(findings, located)
  checkIsolation(findings, located)
  if (errorPolicy !== undefined) checkErrors(findings, located, errorPolicy)
}

/** What finished steps have done stays in the place of the attempt that was interrupted. */
function checkIsolation(findings: Findings, map: LocatedValue): void {
  const { source } = findings
  const checkpoint = fieldOf(source, map, 'checkpoint')
  const isolation = fieldOf(source, map, 'isolation')?.data
  if (checkpoint?.data !== 'step' || (isolation !== 'directory' && isolation !== 'worktree')) return
  const message = `does not go with \`isolation: ${isolation}\`: an attempt that runs again has a new place, without what finished steps did`
  findings.fail(checkpoint, message, 'leave one of them out', true)
}

function checkInput(findings: Findings, map: LocatedValue): void {
  const { source } = findings
  const input = fieldOf(source, map, 'input')
  const path = fieldOf(source, map, 'json_path')
  if (input !== undefined && path !== undefined) checkPath(findings, input, path)
  if (input === undefined || !hasFields(input.data)) return
  const { data } = input
  const format = fieldOf(source, input, 'format')
  const kind = Object.keys(data).find((key) => key !== 'format')
  if (format !== undefined && kind !== undefined && !READ_INPUTS.includes(kind)) {
    findings.fail(format, `says nothing beside \`${kind}\`: its items are values already`, 'leave it out', true)
  }
  const range = fieldOf(source, input, 'range')
  if (range !== undefined) checkRange(findings, map, range)
}

/** Inputs whose items are plain values. */
const WITHOUT_DOCUMENT = ['range', 'glob', 'product']

/** A path looks into documents: JSON, or the rows of NDJSON. */
function checkPath(findings: Findings, input: LocatedValue, path: LocatedValue): void {
  const { data } = input
  const kind = hasFields(data) ? Object.keys(data).find((key) => WITHOUT_DOCUMENT.includes(key)) : undefined
  if (kind !== undefined) {
    findings.fail(path, `finds nothing in the items of a ${kind}`, 'leave it out', true)
    return
  }
  const { format, file } = hasFields(data) ? data : { format: undefined, file: data }
  const known = format ?? (typeof file === 'string' ? formatOfName(file) : undefined)
  if (known !== 'csv' && known !== 'tsv' && known !== 'lines') return
  const rows = known === 'lines' ? 'lines of text' : `rows of ${known.toUpperCase()}`
  findings.fail(
    path,
    `looks into JSON and NDJSON, and the items are ${rows}`,
    'leave it out, or select with `filter`',
    true,
  )
}

function checkRange(findings: Findings, map: LocatedValue, range: LocatedValue): void {
  if (!Array.isArray(range.data) || !range.data.every((one) => Number.isSafeInteger(one))) return
  const [from, to, step = 1] = range.data as readonly number[]
  if (from === undefined || to === undefined) return
  if (step < 1)
    findings.fail(
      range,
      `the distance between its numbers is ${step}, and has to be 1 or more`,
      `write \`[${from}, ${to}]\``,
    )
  else if (from > to)
    findings.fail(range, `it begins at ${from} and ends before that, at ${to}`, `write \`[${to}, ${from}]\``)
  else if (countIn(from, to, step) > MAX_ITEMS && !SELECTIONS.some((field) => fieldOf(findings.source, map, field)))
    findings.fail(range, `it has more than ${MAX_ITEMS} items`, 'split it with `offset` and `max_items`')
}

function countIn(from: number, to: number, step: number): number {
  return Math.floor((to - from) / step) + 1
}

function checkErrors(findings: Findings, map: LocatedValue, policy: LocatedValue): void {
  const { source } = findings
  const retry = fieldOf(source, policy, 'item_retry')
  const timeout = fieldOf(source, map, 'agent_timeout')
  const same = ['attempt_timeout', 'attemptTimeout'].find((key) => retry && fieldOf(source, retry, key) !== undefined)
  if (timeout !== undefined && same !== undefined) {
    findings.fail(timeout, `\`item_retry.${same}\` says the same: keep one of them`, undefined, true)
  }
  const isRetried = fieldOf(source, policy, 'on_item_failure')?.data === 'retry'
  const attempts = retry === undefined && isRetried ? USUAL_ATTEMPTS : attemptsIn(retry?.data)
  const each = fieldOf(source, policy, 'max_retries_per_item')
  if (typeof each?.data !== 'number' || attempts === undefined || each.data < attempts - 1) return
  const retries = attempts - 1
  const message =
    retries === 0
      ? 'it would never bind: an item has one attempt'
      : `it would never bind: ${attempts} attempts are ${retries} ${retries === 1 ? 'retry' : 'retries'} at most`
  const cure = `leave it out, or raise \`attempts\` of \`item_retry\` to ${each.data + 2} or more`
  findings.fail(each, message, cure)
}

/** Undefined if it cannot be told: that has been said. */
function attemptsIn(retry: unknown): number | undefined {
  if (retry === undefined || retry === false) return 1
  if (typeof retry === 'number') return retry
  if (!hasFields(retry)) return undefined
  const { attempts = USUAL_ATTEMPTS } = retry
  return typeof attempts === 'number' ? attempts : undefined
}
