/** Errors of scripts, on their way from one thread to another: what policies read of them is kept. Imports nothing. */

/** What is told of an error; `cause` is another. */
export interface ScriptFailure {
  readonly name: string
  readonly message: string
  readonly stack?: string
  /** Fields with plain values: `code`, `status` … */
  readonly fields: Readonly<Record<string, string | number | boolean>>
  readonly retryAfter?: string
  readonly cause?: ScriptFailure
}

/** A script that ended its thread instead of returning. */
export class ScriptExitError extends Error {
  readonly exitCode: number

  constructor(exitCode: number) {
    super(`the script ended its thread with process.exit(${exitCode}); it must return or throw`)
    this.exitCode = exitCode
  }

  override get name(): string {
    return 'ScriptExitError'
  }
}

const OWN = new Set(['name', 'message', 'stack', 'cause', 'headers', '__proto__', 'constructor'])

/** An error that says what the script's own said. */
export function errorOfScript({ name, message, stack, fields, retryAfter, cause }: ScriptFailure): Error {
  const error = new Error(message, cause === undefined ? undefined : { cause: errorOfScript(cause) })
  define(error, 'name', name)
  if (stack !== undefined) define(error, 'stack', stack)
  for (const [key, value] of Object.entries(fields)) {
    if (!OWN.has(key)) define(error, key, value)
  }
  if (retryAfter !== undefined) define(error, 'headers', { 'retry-after': retryAfter })
  return error
}

/** An error that nobody in the script has caught, as Node hands it over. */
export function scriptFailure(error: unknown): Error {
  if (error instanceof Error) return error
  return new Error(`the script threw ${typeof error === 'string' ? error : 'something that is no error'}`)
}

function define(error: Error, key: string, value: unknown): void {
  Object.defineProperty(error, key, { value, configurable: true, writable: true, enumerable: key !== 'stack' })
}
