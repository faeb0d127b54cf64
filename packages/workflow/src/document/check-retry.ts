/**
 * `retry`, `retry_defaults` and `breakers` of a workflow: a policy of the library, and beside it what only workflows
 * know. Imports the check of policies and the table.
 */
import type { ShapeCheck } from './check.js'
import { BREAKER_NAME } from './fields-policy.js'
import { GATE_KEYS, ON_FAILURE, ON_FAILURE_KEYS } from './fields-retry.js'
import type { Findings } from './findings.js'
import { checkPolicy } from './policy-check.js'
import { withoutFields } from './policy-data.js'
import { fieldOf, hasFields, type Spot } from './spot.js'

export function checkRetry(findings: Findings, spot: Spot, check: ShapeCheck): void {
  checkOnFailure(findings, spot, check)
  checkStepPolicy(findings, spot, check, ON_FAILURE_KEYS)
}

/** `retry` of a step that is done for each item of a map. */
export function checkTemplateRetry(findings: Findings, spot: Spot, check: ShapeCheck): void {
  checkOnFailure(findings, spot, check)
  for (const key of GATE_KEYS) {
    const gate = fieldOf(findings.source, spot, key)
    const message = `a step of a template passes no ${key}: its item has passed those of the map`
    if (gate !== undefined) findings.fail(gate, message, `name it in the map: \`item_retry: {${key}: …}\``, true)
  }
  checkStepPolicy(findings, spot, check, [...ON_FAILURE_KEYS, ...GATE_KEYS])
}

export function checkItemRetry(findings: Findings, spot: Spot, check: ShapeCheck): void {
  for (const key of ON_FAILURE_KEYS) {
    const place = fieldOf(findings.source, spot, key)
    const cure = 'write `on_item_failure: dlq`, `skip` or `stop` beside `item_retry`'
    if (place !== undefined) findings.fail(place, 'unknown field', cure, true)
  }
  checkStepPolicy(findings, spot, check, ON_FAILURE_KEYS)
}

/** `others`: keys that are no part of the policy, and have been looked at. */
function checkStepPolicy(findings: Findings, spot: Spot, check: ShapeCheck, others: readonly string[]): void {
  const { source } = findings
  const hedge = fieldOf(source, spot, 'hedge')
  if (hedge !== undefined) findings.fail(hedge, 'a workflow cannot hedge', 'hedges live within one process', true)

  const breaker = others.includes('breaker') ? undefined : fieldOf(source, spot, 'breaker')
  const isNamed = typeof breaker?.data === 'string'
  if (isNamed) check.check(breaker, BREAKER_NAME)

  const left = withoutFields(spot.data, ['hedge', ...others, ...(isNamed ? ['breaker'] : [])])
  checkPolicy(findings, spot, { data: left, isWorkflow: true })
}

export function checkOnFailure(findings: Findings, retry: Spot, check: ShapeCheck): void {
  const [action, again] = ON_FAILURE_KEYS.flatMap((key) => fieldOf(findings.source, retry, key) ?? [])
  if (action !== undefined) check.check(action, ON_FAILURE.shape, 'retry.on_failure')
  if (again !== undefined) findings.fail(again, 'given in both spellings', undefined, true)
}

/** Settings of a breaker that has a name already. */
export function checkBreaker(findings: Findings, spot: Spot): void {
  const key = fieldOf(findings.source, spot, 'key')
  if (key !== undefined) findings.fail(key, 'unknown field', 'the name of a breaker is its key', true)
  if (spot.data === null) findings.fail(spot, 'is empty', '`{}` has the defaults')
  else if (hasFields(spot.data))
    checkPolicy(findings, spot, { data: withoutFields(spot.data, ['key']), part: 'breaker' })
  else checkPolicy(findings, spot, { data: spot.data, part: 'breaker' })
}
