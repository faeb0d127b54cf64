/**
 * From a document to its plan, or every problem of it at once. Imports the checks and the builder.
 */
import type { Json } from 'reprise/durable'
import { canonicalData } from '../document/canonical-data.js'
import { checkDocument } from '../document/check-document.js'
import { WORKFLOW } from '../document/fields-document.js'
import { Findings } from '../document/findings.js'
import { STDIN } from '../document/problem.js'
import { sourceOfData, type Source } from '../document/source.js'
import { buildPlan } from './build-plan.js'
import { withSteps } from './map-reduce.js'
import { checkMeaning } from './meaning-check.js'
import type { Plan } from './plan.js'
import type { Readers } from './readers.js'

/** Throws an `InputError` with every problem, each at its line and column. */
export function planOf(source: Source, readers: Readers): Plan {
  return makePlan(source, source.file === STDIN ? null : source.file, readers)
}

/**
 * From `document` of an earlier plan, when the file is gone. It is checked again: a ledger may hold what a newer
 * version wrote, or what somebody changed.
 */
export function planFromDocument(document: Json, file: string | null, readers: Readers): Plan {
  return makePlan(sourceOfData(file ?? STDIN, document), file, readers)
}

function makePlan(source: Source, file: string | null, readers: Readers): Plan {
  const findings = new Findings(source)
  checkDocument(findings)
  checkMeaning(findings, readers)
  findings.done()
  return buildPlan(withSteps(canonicalData(source.value, WORKFLOW)), file)
}
