/**
 * What may be submitted, as JSON Schema: a file of `mode: job` without `mode`, and with the flat fields that the wire has
 * beside `best_effort`. A server checks a job by `readJobRequest`, which says more of what is wrong. Imports the schema of
 * files and the request's fields.
 */
import { jobSchema } from '@reprise/workflow/internal'
import type { Json } from 'reprise/durable'
import { MAX_COUNT } from '../rules/field-readers.js'
import { JOB_FIELDS } from '../rules/job-request.js'
import type { Schema } from './route.js'

const MOST_SECONDS = 365 * 86_400

/** Beside the fields of files. */
const WIRE_FIELDS: Readonly<Record<string, Schema>> = {
  best_effort_min_dcs: {
    description: '`min_dcs` of `best_effort`.',
    type: 'integer',
    minimum: 0,
    maximum: MAX_COUNT,
  },
  best_effort_deadline_seconds: {
    description: '`deadline` of `best_effort`, in seconds.',
    type: 'number',
    minimum: 0,
    maximum: MOST_SECONDS,
  },
  best_effort_settle_seconds: {
    description: '`settle` of `best_effort`, in seconds.',
    type: 'number',
    minimum: 0,
    maximum: MOST_SECONDS,
  },
}

/** Such a job is accepted where its datacenters are known. */
export const JOB_EXAMPLE: Json = {
  idempotency_key: 'probe-2026-01-01',
  name: 'checkout-probe',
  datacenters: ['eu', 'us'],
  workflows: [{ name: 'login', document: { steps: [{ shell: './login' }] } }],
  retry_budget: 20,
  best_effort: true,
  best_effort_min_dcs: 1,
  best_effort_deadline_seconds: 300,
}

/** References within it lead to its own `$defs`. */
export function jobRequestSchema(): Schema {
  const { properties, $defs } = jobSchema() as { readonly properties: Record<string, Json>; readonly $defs: Json }
  const ofFile = Object.entries(properties).filter(([name]) => name !== 'mode')
  const known = new Map<string, Json>([...ofFile, ...Object.entries(WIRE_FIELDS)])
  const ordered = JOB_FIELDS.map((name): [string, Json] => [name, known.get(name) ?? true])
  return {
    type: 'object',
    properties: Object.fromEntries(ordered),
    required: ['workflows', 'datacenters'],
    additionalProperties: false,
    $defs,
  }
}
