/** The description of the API: valid OpenAPI 3.1, complete, and its examples are what the API accepts. */
import { readFileSync } from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import { type Json } from 'reprise/durable'
import { JOB_ROUTES, JOB_SCHEMAS, type Route, schemaOf } from '@reprise/jobs/internal'
import { readJobRequest } from '../../packages/jobs/src/rules/job-request.js'
import { operationsOf } from '../../packages/jobs/src/operations.js'
import { GATE_ROUTES } from '../../packages/dashboard/src/serve/gate.js'
import { openApi } from '../../packages/dashboard/src/serve/openapi.js'
import { faultsOf } from '../json-schema.js'

const described = openApi({ routes: GATE_ROUTES, schemas: JOB_SCHEMAS, version: '1.2.3' }) as unknown as {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Json>> }
}

describe('the description of the API', () => {
  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator()
    const answer = await validator.validate({ ...structuredClone(described) })
    expect(answer.errors ?? []).toEqual([])
    expect(answer.valid).toBe(true)
    expect(validator.version).toBe('3.1')
    // Else the validator accepts anything.
    expect((await new Validator().validate({ ...described, paths: { nope: 1 } })).valid).toBe(false)
  })

  it('has every route once, with an operation of its own', () => {
    const operations = Object.values(described.paths).flatMap((methods) => Object.values(methods))
    expect(operations.map(({ operationId }) => operationId).toSorted()).toEqual(
      GATE_ROUTES.map(({ operation }) => operation).toSorted(),
    )
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(GATE_ROUTES.length)
    const own = Object.keys(operationsOf({ limits: {} } as Parameters<typeof operationsOf>[0]))
    expect(JOB_ROUTES.map(({ operation }) => operation).toSorted()).toEqual(own.toSorted())
  })

  it('refers to nothing that is not there, and leaves no schema without use', () => {
    const text = JSON.stringify(described)
    const named = new Set([...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name = '']) => name))
    expect([...named].toSorted()).toEqual(Object.keys(described.components.schemas).toSorted())
    expect(text).not.toContain('#/$defs/')
  })

  it('has examples that its own schemas accept', () => {
    const fields = (route: Route) => [
      ...(route.inPath ?? []),
      ...(route.inQuery ?? []),
      ...(Array.isArray(route.body) ? route.body : []),
    ]
    for (const route of GATE_ROUTES)
      for (const field of fields(route))
        expect(faultsOf(withoutBounds(schemaOf(field)), field.example), `${route.operation} ${field.name}`).toEqual([])
    const submit = JOB_ROUTES.find(({ operation }) => operation === 'submitJob')
    if (submit?.body === undefined || !('whole' in submit.body)) throw new Error('submitJob has no body')
    expect(faultsOf(submit.body.schema(), submit.body.example)).toEqual([])
    expect(readJobRequest(submit.body.example)).toMatchObject({ bestEffort: true, deadlineMs: 300_000 })
  })
})

/** The evaluator of the tests does not know `minLength`. */
function withoutBounds(schema: Readonly<Record<string, Json>>): object {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => keyword !== 'minLength'))
}

it('the page of gates lists every route with its token', () => {
  const text = readFileSync(new URL('../../docs/gates.md', import.meta.url), 'utf8')
  const listed = [...text.matchAll(/^\| `((?:GET|POST) [^`]+)` \| (\w+) \| (.+) \|$/gm)].map(([, ...cells]) => cells)
  expect(listed).toEqual(GATE_ROUTES.map(({ method, path, access, summary }) => [`${method} ${path}`, access, summary]))
})
