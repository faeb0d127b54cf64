/**
 * `retry`, `retry_defaults` and `breakers` of a workflow: a policy of the library, and beside it what only workflows
 * know. Imports the check of policies and the table.
 */
import type { ShapeCheck } from './check.js'
import { BREAKER_NAME } from './fields-policy.js'
import { ON_FAILURE, ON_FAILURE_KEYS } from './fields-retry.js'
import type { Findings } from './findings.js'
import { checkPolicy } from './policy-check.js'
import { withoutFields } from './policy-data.js'
import { fieldOf, hasFields, type Spot } from './spot.js'

export function checkRetry(findings: Findings, spot: Spot, check: ShapeCheck): void {
  const { source } = findings
  checkOnFailure(findings, spot, check)
  const hedge = fieldOf(source, spot, 'hedge')
  if (hedge !== undefined) findings.fail(hedge, 'a workflow cannot hedge', 'hedges live within one process', true)

  const breaker = fieldOf(source, spot, 'breaker')
  const isNamed = typeof breaker?.data === 'string'
  if (isNamed) check.check(breaker, BREAKER_NAME)

  const others = ['hedge', ...ON_FAILURE_KEYS, ...(isNamed ? ['breaker'] : [])]
  checkPolicy(findings, spot, { data: withoutFields(spot.data, others), isWorkflow: true })
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
