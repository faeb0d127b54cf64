/** Paths as they are typed in the working directory. `--json` has them in full. Imports Node. */
import path from 'node:path'

/** The path from here for a file below the working directory, else as it is. */
export function pathFromHere(file: string): string {
  const short = path.relative(process.cwd(), file)
  return short === '' || short.startsWith('..') || path.isAbsolute(short) ? file : short
}
