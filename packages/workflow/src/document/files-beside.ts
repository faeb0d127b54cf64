/** What to name instead of a file that does not exist. Imports Node and the library. */
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { nearest } from 'reprise/internal'

/** At most this many files are named. */
const SHOWN = 5

/** The file that was probably meant, else the documents in its directory; undefined if that has none. */
export function cureForMissing(name: string): string | undefined {
  const directory = path.dirname(name)
  const files = documentsIn(directory)
  if (files.length === 0) return undefined
  // Without their endings, which make all names similar.
  const stems = files.map((file) => path.parse(file).name)
  const near = files[stems.indexOf(nearest(path.parse(name).name, stems) ?? '')]
  if (near !== undefined) return `did you mean \`${path.join(directory, near)}\`?`
  const where = directory === '.' ? 'this directory' : directory
  return `${where} has ${files.slice(0, SHOWN).join(', ')}${files.length > SHOWN ? ', …' : ''}`
}

function documentsIn(directory: string): string[] {
  try {
    const names = readdirSync(directory).filter((file) => /\.(ya?ml|json)$/.test(file))
    return names.toSorted()
  } catch {
    return []
  }
}
