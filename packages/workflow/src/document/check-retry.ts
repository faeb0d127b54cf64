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
import { fieldOf, hasFields, type LocatedValue } from './located.js'

export function checkRetry(findings: Findings, located: LocatedValue, check: ShapeCheck): void {
  checkOnFailure(findings, located, check)
  checkStepPolicy(findings, located, check, ON_FAILURE_KEYS)
}

/** `retry` of a step that is done for each item of a map. */
export function checkTemplateRetry(findings: Findings, located: LocatedValue, check: ShapeCheck): void {
  checkOnFailure(findings, located, check)
  for (const key of GATE_KEYS) {
    const gate = fieldOf(findings.source, located, key)
    const message = `a step of a template passes no ${key}: its item has passed those of the map`
    if (gate !== undefined) findings.fail(gate, message, `name it in the map: \`item_retry: {${key}: …}\``, true)
  }
  checkStepPolicy(findings, located, check, [...ON_FAILURE_KEYS, ...GATE_KEYS])
}

export function checkItemRetry(findings: Findings, located: LocatedValue, check: ShapeCheck): void {
  for (const key of ON_FAILURE_KEYS) {
    const place = fieldOf(findings.source, located, key)
    const cure = 'write `on_item_failure: dlq`, `skip` or `stop` beside `item_retry`'
    if (place !== undefined) findings.fail(place, 'unknown field', cure, true)
  }
  checkStepPolicy(findings, located, check, ON_FAILURE_KEYS)
}

/** `others`: keys that are no part of the policy, and have been looked at. */
function checkStepPolicy(
  findings: Findings,
  located: LocatedValue,
  check: ShapeCheck,
  others: readonly string[],
): void {
  const { source } = findings
  const hedge = fieldOf(source, located, 'hedge')
  if (hedge !== undefined) findings.fail(hedge, 'a workflow cannot hedge', 'hedges live within one process', true)

  const breaker = others.includes('breaker') ? undefined : fieldOf(source, located, 'breaker')
  const isNamed = typeof breaker?.data === 'string'
  if (isNamed) check.check(breaker, BREAKER_NAME)

  const left = withoutFields(located.data, ['hedge', ...others, ...(isNamed ? ['breaker'] : [])])
  checkPolicy(findings, located, { data: left, isWorkflow: true })
}

export function checkOnFailure(findings: Findings, retry: LocatedValue, check: ShapeCheck): void {
  const [action, again] = ON_FAILURE_KEYS.flatMap((key) => fieldOf(findings.source, retry, key) ?? [])
  if (action !== undefined) check.check(action, ON_FAILURE.shape, 'retry.on_failure')
  if (again !== undefined) findings.fail(again, 'given in both spellings', undefined, true)
}

/** Settings of a breaker that has a name already. */
export function checkBreaker(findings: Findings, located: LocatedValue): void {
  const key = fieldOf(findings.source, located, 'key')
  if (key !== undefined) findings.fail(key, 'unknown field', 'the name of a breaker is its key', true)
  if (located.data === null) findings.fail(located, 'is empty', '`{}` has the defaults')
  else if (hasFields(located.data))
    checkPolicy(findings, located, { data: withoutFields(located.data, ['key']), part: 'breaker' })
  else checkPolicy(findings, located, { data: located.data, part: 'breaker' })
}
