/**
 * Whether a value of JSON has the shape that a record needs: what a store holds may have been written by another program, or
 * by hand. A shape gives its faults as sentences, and no fault where the value will do. Imports nothing.
 */

/** Adds to `faults` what is wrong with the value at the place. */
export type JsonShape = (value: unknown, place: string, faults: string[]) => void

const SHOWN_CHARACTERS = 60

/** A value in a sentence: what is damaged may be long. */
export function shownJson(value: unknown): string {
  const text = value === undefined ? 'missing' : typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text
}

export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function shapeOf(isFit: (value: unknown) => boolean, what: string): JsonShape {
  return (value, place, faults) => {
    if (!isFit(value)) faults.push(`${place} is ${shownJson(value)}, which is not ${what}`)
  }
}

export const ANY_JSON: JsonShape = () => undefined
export const TEXT: JsonShape = shapeOf((value) => typeof value === 'string', 'a text')
export const NUMBER: JsonShape = shapeOf((value) => typeof value === 'number' && Number.isFinite(value), 'a number')
export const COUNT: JsonShape = shapeOf(
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  'a whole number of 0 or more',
)
export const FLAG: JsonShape = shapeOf((value) => typeof value === 'boolean', 'true or false')

export function oneOf(words: readonly string[]): JsonShape {
  return shapeOf((value) => words.some((word) => word === value), `one of ${words.join(', ')}`)
}

export function orNull(shape: JsonShape): JsonShape {
  return (value, place, faults) => {
    if (value !== null) shape(value, place, faults)
  }
}

export function listOf(shape: JsonShape): JsonShape {
  return (value, place, faults) => {
    if (!Array.isArray(value)) faults.push(`${place} is ${shownJson(value)}, which is no list`)
    else for (const [index, one] of value.entries()) shape(one, `${place}[${index}]`, faults)
  }
}

/** An object whose values have one shape, whatever their names. */
export function mapOf(shape: JsonShape): JsonShape {
  return (value, place, faults) => {
    if (!isJsonObject(value)) faults.push(`${place} is ${shownJson(value)}, which is no object`)
    else for (const [name, one] of Object.entries(value)) shape(one, `${place}.${name}`, faults)
  }
}

/** An object with these fields; others are left alone. `optional`: fields that may be absent. */
export function fields(
  required: Readonly<Record<string, JsonShape>>,
  optional: Readonly<Record<string, JsonShape>> = {},
): JsonShape {
  const [needed, allowed] = [Object.entries(required), Object.entries(optional)]
  return (value, place, faults) => {
    if (!isJsonObject(value)) {
      faults.push(`${place} is ${shownJson(value)}, which is no object`)
      return
    }
    for (const [name, shape] of needed) shape(value[name], `${place}.${name}`, faults)
    for (const [name, shape] of allowed) if (value[name] !== undefined) shape(value[name], `${place}.${name}`, faults)
  }
}

/** Every fault of the value. */
export function shapeFaults(shape: JsonShape, value: unknown, place: string): string[] {
  const faults: string[] = []
  shape(value, place, faults)
  return faults
}
