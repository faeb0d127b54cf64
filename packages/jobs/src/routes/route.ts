/**
 * What a route of the HTTP API is: data from which a server makes its handlers, its OpenAPI document and its tests, and a
 * client its requests. Types, and what follows from them. Pure. Imports types.
 *
 * Invariant: names in requests are spelt as AD-44 spells them (`only_failed`); answers are what commands print with `--json`.
 */
import type { Json } from 'reprise/durable'

/** A JSON Schema (draft 2020-12) as plain data. */
export type Schema = Readonly<Record<string, Json>>

/** A value of a request: in the path, behind the `?`, or in the body. */
export interface RouteField {
  readonly name: string
  /** A sentence. */
  readonly text: string
  readonly type: 'text' | 'whole' | 'flag'
  /** Bounds of a number, or of the length of a text. */
  readonly least?: number
  readonly most?: number
  /** What a text must match. */
  readonly pattern?: string
  /** All that a text may be. */
  readonly words?: readonly string[]
  readonly isRequired?: true
  readonly example: string | number | boolean
}

/**
 * Who may use a route. `open`: everybody, and it says nothing. `view`: with a token. `act`: with a token that may change
 * jobs. `operate`: with such a token, and only on a server that was started with `--allow-changes`.
 */
export type RouteAccess = 'open' | 'view' | 'act' | 'operate'

export interface Route<Operation extends string = string> {
  readonly method: 'GET' | 'POST'
  /** `/api/v1/jobs/{id}`: a name in braces is a field of `inPath`. */
  readonly path: string
  /** What answers it; unique. */
  readonly operation: Operation
  /** Half a sentence. */
  readonly summary: string
  readonly access: RouteAccess
  readonly inPath?: readonly RouteField[]
  readonly inQuery?: readonly RouteField[]
  /**
   * Fields of the body; or one value that the operation checks itself, which is handed on as the field `whole`. Its schema is
   * made when it is asked for: only a description of the API needs it.
   */
  readonly body?:
    | readonly RouteField[]
    | { readonly whole: string; readonly schema: () => Schema; readonly example: Json }
  /** The longest body in bytes, where it is not the usual one. */
  readonly bodyLimit?: number
  /** The media type of the answer (default: `application/json`). */
  readonly type?: 'text/plain'
  /** What the answer looks like; a text where `type` says so. */
  readonly answer: Schema
  /** What it means that an operation answers null; the routes without it never do. */
  readonly absent?: { readonly kind: string; readonly title: string }
}

/** The JSON Schema of a field. */
export function schemaOf({ type, least, most, pattern, words, example }: RouteField): Schema {
  const [lower, upper] = type === 'text' ? ['minLength', 'maxLength'] : ['minimum', 'maximum']
  return {
    type: type === 'text' ? 'string' : type === 'whole' ? 'integer' : 'boolean',
    ...(least !== undefined && { [lower]: least }),
    ...(most !== undefined && { [upper]: most }),
    ...(pattern !== undefined && { pattern }),
    ...(words !== undefined && { enum: words }),
    examples: [example],
  }
}

/** The fields of the body; none where the operation checks the whole. */
export function bodyFields({ body }: Route): readonly RouteField[] {
  return body === undefined || 'whole' in body ? [] : body
}
