/** How the table of policy fields is said in TypeScript, for hover-docs.mjs and reference.mjs. */
import { tsImport } from 'tsx/esm/api'

/** @typedef {import('../packages/workflow/src/document/policy-fields.js').PolicyField} PolicyField */

const tables = new URL('../packages/workflow/src/document/', import.meta.url)

/** @type {typeof import('../packages/workflow/src/document/policy-fields.js')} */
export const { defaultText, nameInFiles, POLICY_FIELDS } = await tsImport(
  new URL('policy-fields.ts', tables).href,
  import.meta.url,
)
/** @type {typeof import('../packages/workflow/src/document/spelling.js')} */
export const { camelCase } = await tsImport(new URL('spelling.ts', tables).href, import.meta.url)

/** @param {Pick<PolicyField, 'doc' | 'note'>} field */
export const meaningOf = ({ doc, note }) => (note === undefined ? doc : `${doc} ${note}`)

/** `failureThreshold` of `breaker.failureThreshold`. @param {string} name */
export const lastPart = (name) => name.slice(name.lastIndexOf('.') + 1)

/** A value as TypeScript has it, keys in camelCase. @param {unknown} value @returns {string} */
export function literal(value) {
  if (typeof value === 'string') return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const fields = Object.entries(value).map(([key, inner]) => `${camelCase(key)}: ${literal(inner)}`)
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`
}

/** The first example of a field, as a part of the object it belongs to. @param {PolicyField} field */
export const exampleOf = ({ name, examples, code }) => code ?? `${lastPart(name)}: ${literal(examples[0])}`
