/** The two spellings of a field: `max_delay` in files, `maxDelay` in code. Imports nothing. */

export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

export function camelCase(name: string): string {
  return name.replaceAll(/_[a-z]/g, (pair) => pair.charAt(1).toUpperCase())
}

/** `max-delay`, as a flag has it. */
export function kebabCase(name: string): string {
  return snakeCase(name).replaceAll('_', '-')
}
