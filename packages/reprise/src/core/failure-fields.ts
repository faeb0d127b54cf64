/**
 * What a failure states in its fields: texts, codes and HTTP statuses, its own and those of its causes.
 *
 * Invariants: anything at all may have been thrown. Fields are read with `readField`, so a getter or proxy that throws
 * counts as absent; what is read is bounded in depth, number and length. Imports nothing.
 */
/** Of a message, and of a command's output, the end is what counts. */
const MAX_TEXT = 8192
/** How far causes and the errors of an `AggregateError` are followed, and how many are looked at in all. */
const MAX_DEPTH = 5
const MAX_ERRORS = 12

/** What a pattern is tested on: name and message, the end of a command's output, its exit status, a timeout mark. */
export function errorText(error: unknown): string {
  if (Object(error) !== error) return String(error).slice(-MAX_TEXT)
  const exitCode = exitCodeOf(error)
  return [
    [readText(error, 'name'), readText(error, 'message')].filter(Boolean).join(': '),
    readText(error, 'stderr') || readText(error, 'stdout'),
    exitCode === undefined ? '' : `exit status ${exitCode}`,
    readField(error, 'timedOut') === true ? 'timed out' : '',
  ]
    .filter(Boolean)
    .join('\n')
}

/** A field of something that nobody vouches for. */
export function readField(value: unknown, key: string | number): unknown {
  try {
    return (value as Record<string | number, unknown> | null | undefined)?.[key]
  } catch {
    return undefined
  }
}

/** A field that is a text, or its end; empty for anything else. */
export function readText(error: unknown, key: string): string {
  const text = readField(error, key)
  return typeof text === 'string' ? text.slice(-MAX_TEXT) : ''
}

export function exitCodeOf(error: unknown): number | undefined {
  return [readField(error, 'exitCode'), readField(error, 'code')].find(Number.isInteger) as number | undefined
}

/** The error, its causes, and those that it stands for. */
export function errorsIn(error: unknown): readonly unknown[] {
  const errors: unknown[] = []
  collect(error, 0, errors)
  return errors
}

function collect(error: unknown, depth: number, into: unknown[]): void {
  if (depth > MAX_DEPTH || into.length >= MAX_ERRORS || into.includes(error)) return
  into.push(error)
  const errors = readField(error, 'errors')
  for (const inner of [readField(error, 'cause'), ...[0, 1, 2, 3, 4].map((index) => readField(errors, index))]) {
    if (inner !== undefined) collect(inner, depth + 1, into)
  }
}

/** HTTP statuses of failure in fields. `code` as well: an exit code is never above 255. */
export function statusesOf(errors: readonly unknown[]): number[] {
  return errors
    .flatMap((error) => [error, ...['response', 'value', '$metadata'].map((key) => readField(error, key))])
    .flatMap((holder) => ['status', 'statusCode', 'httpStatusCode', 'code'].map((key) => readField(holder, key)))
    .map((status) => (typeof status === 'string' || typeof status === 'number' ? Number(status) : 0))
    .filter((status) => status >= 400 && status < 600)
}
