/** Texts as messages show them. Imports nothing. */

const MAX_SHOWN = 40

/** At most a little of it. */
export function shortened(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}
