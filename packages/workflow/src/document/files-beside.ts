/** What to name instead of a file that does not exist. Imports Node and the library. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { nearest } from 'reprise/internal'

/** At most this many files are named. */
const SHOWN = 5
/** At most this many are read. */
const LOOKED_AT = 100

/** The file that was probably meant, else the workflows and policies in its directory; undefined if that has none. */
export function cureForMissing(name: string): string | undefined {
  const directory = path.dirname(name)
  const files = documentsIn(directory)
  if (files.length === 0) return undefined
  // Without their endings, which make all names similar.
  const stems = files.map((file) => path.parse(file).name)
  const near = files[stems.indexOf(nearest(path.parse(name).name, stems) ?? '')]
  if (near !== undefined) return `did you mean \`${path.join(directory, near)}\`?`
  const ours = files.slice(0, LOOKED_AT).filter((file) => isOurs(path.join(directory, file)))
  if (ours.length === 0) return undefined
  const where = directory === '.' ? 'this directory' : directory
  return `${where} has ${ours.slice(0, SHOWN).join(', ')}${ours.length > SHOWN ? ', …' : ''}`
}

/** Keys of workflows and policies at the left margin; in JSON wherever they are. */
const OURS = /^["']?(steps|tasks|commands|setup|map|attempts|backoff)["']?\s*:|^\s*\{?\s*"(steps|tasks|attempts)"\s*:/m

/** Most documents in the directory of a project are the settings of other tools. */
function isOurs(file: string): boolean {
  try {
    return OURS.test(readFileSync(file, 'utf8'))
  } catch {
    return false
  }
}

function documentsIn(directory: string): string[] {
  try {
    const names = readdirSync(directory).filter((file) => /\.(ya?ml|json)$/.test(file))
    return names.toSorted()
  } catch {
    return []
  }
}
