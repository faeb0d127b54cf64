/** The API as OpenAPI 3.1, from the same table that its handlers are made of. Pure. Imports the routes. */
import { bodyFields, type Route, type RouteField, type Schema, schemaOf } from '@reprise/jobs/internal'
import type { Json } from 'reprise/durable'
import { PROBLEM_TYPE } from './problem.js'

export interface ApiDescription {
  readonly routes: readonly Route[]
  /** Schemas that answers refer to, by name. */
  readonly schemas: Readonly<Record<string, Schema>>
  readonly version: string
}

export function openApi({ routes, schemas, version }: ApiDescription): Json {
  const paths: Record<string, Record<string, Json>> = {}
  const bodies: Record<string, Json> = {}
  for (const route of routes) (paths[route.path] ??= {})[route.method.toLowerCase()] = operationOf(route, bodies)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Reprise',
      version,
      description: 'Jobs over datacenters. A change needs the header X-Reprise and a token that may act.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: { ...schemas, ...bodies, Problem: PROBLEM } as Record<string, Json>,
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
  }
}

const PROBLEM: Schema = {
  type: 'object',
  required: ['type', 'title', 'status', 'kind'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    kind: { type: 'string' },
    detail: { type: 'string' },
    problems: {
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: { path: { type: 'string' }, message: { type: 'string' }, suggestion: { type: 'string' } },
      },
    },
  },
}

const REQUIRED_HEADER: Json = {
  name: 'X-Reprise',
  in: 'header',
  required: true,
  description: 'Any value: no form and no link of another site can send it.',
  schema: { type: 'string' },
  example: '1',
}

function operationOf(route: Route, bodies: Record<string, Json>): Json {
  const { method, operation, summary, access, inPath = [], inQuery = [] } = route
  const isChange = method === 'POST'
  const parameters = [
    ...inPath.map((field) => parameterOf(field, 'path')),
    ...inQuery.map((field) => parameterOf(field, 'query')),
    ...(isChange ? [REQUIRED_HEADER] : []),
  ]
  const needed = { operate: ' The server must have been started with `--allow-changes`.' }
  const description = `Needs ${TOKENS[access]}.${access === 'operate' ? needed.operate : ''}`
  return {
    operationId: operation,
    summary,
    description,
    parameters,
    ...(isChange && { requestBody: bodyOf(route, bodies) }),
    responses: { '200': answerOf(route), default: FAILURE },
    security: access === 'open' ? [] : [{ token: [] }],
  }
}

const TOKENS = {
  open: 'no token',
  view: 'a token',
  act: 'a token that may act',
  operate: 'a token that may act',
} as const satisfies Readonly<Record<Route['access'], string>>

const FAILURE: Json = {
  description: 'What is wrong.',
  content: { [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } },
}

function parameterOf(field: RouteField, place: 'path' | 'query'): Json {
  const { name, text, isRequired = false, example } = field
  return { name, in: place, required: isRequired, description: text, schema: schemaOf(field), example }
}

function answerOf({ type, answer, summary }: Route): Json {
  return { description: summary, content: { [type ?? 'application/json']: { schema: answer } } }
}

/** The parts of a body that refer to each other are components too. */
function bodyOf(route: Route, bodies: Record<string, Json>): Json {
  const { body } = route
  if (body !== undefined && 'whole' in body) {
    const { $defs = {}, ...schema } = body.schema()
    for (const [name, part] of Object.entries($defs as Record<string, Json>)) bodies[name] = moved(part)
    return { required: true, content: { 'application/json': { schema: moved(schema), example: body.example } } }
  }
  const fields = bodyFields(route)
  const schema = {
    type: 'object',
    properties: Object.fromEntries(
      fields.map((field) => [field.name, { description: field.text, ...schemaOf(field) }]),
    ),
    additionalProperties: false,
  }
  const example = Object.fromEntries(fields.map(({ name, example: value }) => [name, value]))
  return { required: false, content: { 'application/json': { schema, example } } }
}

function moved(schema: Json): Json {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json
}
