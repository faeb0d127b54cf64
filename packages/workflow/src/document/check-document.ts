/**
 * A workflow document checked against its table. What no table can say (whether a name is declared, a reference known)
 * is looked at when a plan is made of it. Imports the checks of its parts.
 */
import { checkBudget } from './budget-section.js'
import { checkBreaker, checkItemRetry, checkRetry, checkTemplateRetry } from './check-retry.js'
import { ShapeCheck } from './check.js'
import { WORKFLOW } from './fields-document.js'
import type { Findings } from './findings.js'
import { fieldOf, type LocatedValue, wholeOf } from './located.js'

/** What only a document of `mode: mapreduce` has. */
const MAP_REDUCE_KEYS = ['setup', 'map', 'reduce', 'merge', 'error_policy']

export function checkDocument(findings: Findings): void {
  const whole = wholeOf(findings.source)
  if (whole.data === null || whole.data === undefined) {
    findings.fail(whole, 'is empty', 'a workflow is as short as `steps: [{shell: ./fetch}]`')
    return
  }
  const mode = fieldOf(findings.source, whole, 'mode')
  if (mode?.data === 'job') {
    findings.fail(mode, 'this is a job, and not a workflow', 'jobs are submitted: `reprise job run FILE`')
    return
  }
  const mark = markOfMapReduce(findings, whole)
  if (mark !== undefined) {
    const cure = 'write `mode: mapreduce` at the top, or make the map one of the `steps`: `- {id: resize, map: {…}}`'
    findings.fail(mark, 'this is map/reduce, and the document does not say so', cure, true)
    return
  }
  shapeCheck(findings).check(whole, WORKFLOW)
}

/** A check that knows whom to ask about policies, breakers and budgets. */
export function shapeCheck(findings: Findings): ShapeCheck {
  const check: ShapeCheck = new ShapeCheck(findings, {
    retry: (located) => checkRetry(findings, located, check),
    template_retry: (located) => checkTemplateRetry(findings, located, check),
    item_retry: (located) => checkItemRetry(findings, located, check),
    breaker: (located) => checkBreaker(findings, located),
    budget: (located) => checkBudget(findings, located),
  })
  return check
}

/** A key of map/reduce in a document that is none. */
function markOfMapReduce({ source }: Findings, whole: LocatedValue): LocatedValue | undefined {
  // A misspelt mode is named as such, and whoever has `steps` has misspelt something else.
  if (['mode', 'steps', 'tasks', 'commands'].some((key) => fieldOf(source, whole, key) !== undefined)) return undefined
  return MAP_REDUCE_KEYS.flatMap((key) => fieldOf(source, whole, key) ?? [])[0]
}
