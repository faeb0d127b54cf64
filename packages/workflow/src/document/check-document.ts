/**
 * A workflow document checked against its table. What no table can say (whether a name is declared, a reference known)
 * is looked at when a plan is made of it. Imports the checks of its parts.
 */
import { checkBudget } from './budget-section.js'
import { checkBreaker, checkRetry } from './check-retry.js'
import { ShapeCheck } from './check.js'
import { WORKFLOW } from './fields-document.js'
import type { Findings } from './findings.js'
import { fieldOf, type Spot, wholeOf } from './spot.js'

/** What a document of another kind has, which this version does not run. */
const MAP_REDUCE_KEYS = ['setup', 'map', 'reduce', 'merge', 'error_policy']

export function checkDocument(findings: Findings): void {
  const whole = wholeOf(findings.source)
  if (whole.data === null || whole.data === undefined) {
    findings.fail(whole, 'is empty', 'a workflow is as short as `steps: [{shell: ./fetch}]`')
    return
  }
  const mark = markOfMapReduce(findings, whole)
  if (mark !== undefined) {
    const cure = 'put the steps under `steps:`, and leave out `mode` and the keys of map/reduce'
    findings.fail(mark, 'this is map/reduce, and this version runs plain workflows only', cure, true)
    return
  }
  shapeCheck(findings).check(whole, WORKFLOW)
}

/** A check that knows whom to ask about policies, breakers and budgets. */
export function shapeCheck(findings: Findings): ShapeCheck {
  const check: ShapeCheck = new ShapeCheck(findings, {
    retry: (spot) => checkRetry(findings, spot, check),
    breaker: (spot) => checkBreaker(findings, spot),
    budget: (spot) => checkBudget(findings, spot),
  })
  return check
}

function markOfMapReduce({ source }: Findings, whole: Spot): Spot | undefined {
  const mode = fieldOf(source, whole, 'mode')
  if (mode?.data === 'mapreduce') return mode
  // Whoever has `steps` has misspelt something else.
  if (['steps', 'tasks', 'commands'].some((key) => fieldOf(source, whole, key) !== undefined)) return undefined
  return MAP_REDUCE_KEYS.flatMap((key) => fieldOf(source, whole, key) ?? [])[0]
}
