/** How notes name a field. Imports nothing. */

/**
 * A field in the words of the reader, with a value where one is proposed: `queue` and `4s` are `--queue 4s` on the
 * command line. Names are those of the library.
 */
export type FieldWords = (field: string, value?: string) => string
