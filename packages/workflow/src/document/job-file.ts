/** A file of `mode: job`, checked against its table. Imports the check and the table. */
import type { Json } from 'reprise/durable'
import { canonicalData } from './canonical-data.js'
import { shapeCheck } from './check-document.js'
import { JOB } from './fields-job.js'
import type { Findings } from './findings.js'
import type { Source } from './source.js'
import { fieldOf, hasFields, wholeOf } from './located.js'

/** Whether a file is a job, or meant to be one. */
export function isJob({ value }: Pick<Source, 'value'>): boolean {
  if (!hasFields(value)) return false
  // A misspelt or missing mode: no other kind of file has these.
  return value['mode'] === 'job' || (Object.hasOwn(value, 'datacenters') && !Object.hasOwn(value, 'steps'))
}

/** The fields of the job in their one spelling; problems of the file are in `findings`. */
export function readJobFields(findings: Findings): Json {
  const whole = wholeOf(findings.source)
  const steps = isJob(findings.source) ? undefined : fieldOf(findings.source, whole, 'steps')
  if (steps === undefined) shapeCheck(findings).check(whole, JOB)
  else findings.fail(steps, 'this is a workflow, and not a job', 'workflows are run: `reprise run FILE`', true)
  return findings.problems.length === 0 ? canonicalData(findings.source.value, JOB) : null
}
