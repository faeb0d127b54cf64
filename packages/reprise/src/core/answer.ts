/**
 * Answers of hooks that must be synchronous: a predicate, `failIf`, a budget. A promise is refused, and its rejection is
 * handled: otherwise Node would end the process for it. Imports nothing.
 */

/** What is said of a hook that answered with a promise. */
export const PROMISED = 'answered with a promise: it must be synchronous'

/** Whether the answer is a promise. If so its rejection is handled by `handle`, since nobody will wait for it. */
export function isPromise(answer: unknown, handle: (error: unknown) => void = () => undefined): boolean {
  if (typeof (answer as { then?: unknown } | null | undefined)?.then !== 'function') return false
  void Promise.resolve(answer).then(undefined, handle)
  return true
}

/** What a hook says. A promise is always truthy: taken for an answer, it would be a yes whatever it comes to. */
export function expectAnswer(answer: unknown, name: string): boolean {
  if (isPromise(answer)) throw new TypeError(`${name} ${PROMISED}`)
  return Boolean(answer)
}
