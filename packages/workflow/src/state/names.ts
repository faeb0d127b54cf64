/**
 * Names of files in the state directory. An id becomes part of a path, so it can be nothing but a name: no slash, no
 * leading dot, no surprise. Imports nothing.
 */

/** Generation, attempt and execution: what a log is named after. */
export interface AttemptName {
  readonly generation: number
  readonly attempt: number
  readonly execution: number
}

const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
const LOG = /^(\d{1,16})\.(\d{1,16})\.(\d{1,16})\.log$/

/** Throws a RangeError with the place and the rule. */
export function expectId(what: string, id: string): string {
  if (isId(id)) return id
  const shown = JSON.stringify(id).slice(0, 140)
  throw new RangeError(
    `${shown} cannot be the id of a ${what}: 1 to 128 letters, digits, dots, underscores and dashes, the first one a ` +
      'letter or digit',
  )
}

export function isId(id: unknown): boolean {
  return typeof id === 'string' && ID.test(id)
}

export function stemOf({ generation, attempt, execution }: AttemptName): string {
  const numbers = [generation, attempt, execution]
  if (!numbers.every((number) => Number.isSafeInteger(number) && number >= 0)) {
    throw new RangeError(`${numbers.join('.')} names no attempt: generation, attempt and execution are whole numbers`)
  }
  return numbers.join('.')
}

/** null: not the name of a log. */
export function parseLogName(name: string): AttemptName | null {
  const [, generation, attempt, execution] = LOG.exec(name) ?? []
  if (execution === undefined) return null
  const parsed = { generation: Number(generation), attempt: Number(attempt), execution: Number(execution) }
  // `01.1.1.log` is not one of ours.
  return `${stemOf(parsed)}.log` === name ? parsed : null
}

export function compareAttempts(a: AttemptName, b: AttemptName): number {
  return a.generation - b.generation || a.attempt - b.attempt || a.execution - b.execution
}
