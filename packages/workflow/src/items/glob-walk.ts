/**
 * The paths that match patterns, in the order of their characters, each once. Imports Node, patterns and errors.
 *
 * All patterns are followed in one walk, directory by directory, so only the names of one directory per level are in
 * memory. `**` does not go into hidden directories nor through links to directories, so there is no circle; a name that
 * is written out, or matched by `*`, goes through a link. A directory that cannot be read is an error: leaving out its
 * files would be silent.
 */
import { opendir, stat } from 'node:fs/promises'
import path from 'node:path'
import { reasonOf } from '../document/read-text.js'
import { type GlobPattern, globPatterns, type Segment } from './glob-pattern.js'
import { InputDataError } from './input-data-error.js'

/** How far a path has followed a pattern. */
interface Place {
  readonly pattern: GlobPattern
  readonly index: number
}

interface Directory {
  /** In the file system. */
  readonly path: string
  /** As items show it: '', or with a slash at its end. */
  readonly prefix: string
  readonly places: readonly Place[]
  readonly excluded: readonly Place[]
}

/** `!` before a pattern takes away what it matches. Paths come in groups, and as they are written in the pattern. */
export async function* globPaths(patterns: readonly string[], directory: string): AsyncGenerator<readonly string[]> {
  const wanted = patterns.filter((text) => !text.startsWith('!')).flatMap((text) => globPatterns(text))
  const unwanted = patterns.filter((text) => text.startsWith('!')).flatMap((text) => globPatterns(text.slice(1), true))
  if (wanted.length === 0) throw new InputDataError(patterns.join(', '), 'every pattern takes away, and none adds')
  for (const base of new Set(wanted.map((pattern) => pattern.base).toSorted())) {
    const placesOf = (all: readonly GlobPattern[]): Place[] =>
      all.filter((pattern) => pattern.base === base).map((pattern) => ({ pattern, index: 0 }))
    yield* walk({
      path: path.resolve(directory, base),
      prefix: base,
      places: withSkipped(placesOf(wanted)),
      excluded: withSkipped(placesOf(unwanted)),
    })
  }
}

async function* walk(directory: Directory): AsyncGenerator<readonly string[]> {
  const { names, linked } = await readNames(directory)
  let paths: string[] = []
  for (const name of names) {
    if (!name.endsWith('/')) {
      paths.push(directory.prefix + name)
      continue
    }
    const inside = enter(directory, name.slice(0, -1), linked.has(name))
    if (isEnd(inside.arrived, true)) paths.push(directory.prefix + name)
    if (inside.directory === null) continue
    if (paths.length > 0) yield paths
    paths = []
    yield* walk(inside.directory)
  }
  if (paths.length > 0) yield paths
}

/** Files that match, and directories to go into with a slash at their end: in this spelling they sort as paths do. */
async function readNames(directory: Directory): Promise<{ names: string[]; linked: ReadonlySet<string> }> {
  const names: string[] = []
  const linked = new Set<string>()
  try {
    for await (const entry of await opendir(directory.path, { bufferSize: 512 })) {
      const isLink = entry.isSymbolicLink()
      if (entry.isDirectory() || (isLink && (await isDirectory(path.join(directory.path, entry.name))))) {
        names.push(`${entry.name}/`)
        if (isLink) linked.add(`${entry.name}/`)
      } else if (
        isEnd(advance(directory.places, entry.name, true), false) &&
        !isEnd(advance(directory.excluded, entry.name, true), false)
      ) {
        names.push(entry.name)
      }
    }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT' && code !== 'ENOTDIR') {
      const shown = directory.prefix || '.'
      throw new InputDataError(shown, reasonOf(error), `leave it out with \`!${directory.prefix}**\``, { cause: error })
    }
  }
  return { names: names.sort(), linked }
}

async function isDirectory(file: string): Promise<boolean> {
  try {
    return (await stat(file)).isDirectory()
  } catch {
    // A link that leads nowhere is a path all the same, as in shells.
    return false
  }
}

function enter(
  { path: parent, prefix, places, excluded }: Directory,
  name: string,
  isLink: boolean,
): { arrived: readonly Place[]; directory: Directory | null } {
  const leaving = advance(excluded, name, true)
  if (leaving.some(({ pattern, index }) => index === pattern.segments.length || isAllBelow(pattern, index))) {
    return { arrived: [], directory: null }
  }
  const arrived = advance(places, name, !isLink)
  const below = arrived.filter(({ pattern, index }) => index < pattern.segments.length)
  if (below.length === 0) return { arrived, directory: null }
  const inside = { path: path.join(parent, name), prefix: `${prefix}${name}/`, places: below, excluded: leaving }
  return { arrived, directory: inside }
}

function isAllBelow({ segments }: GlobPattern, index: number): boolean {
  return index === segments.length - 1 && segments[index] === 'any'
}

/** Whether a path that has come this far is wanted. */
function isEnd(places: readonly Place[], isForDirectory: boolean): boolean {
  return places.some(
    ({ pattern, index }) => pattern.isForDirectories === isForDirectory && index === pattern.segments.length,
  )
}

/** `staysInAny`: `**` may take the name. */
function advance(places: readonly Place[], name: string, staysInAny: boolean): readonly Place[] {
  const next: Place[] = []
  for (const place of places) {
    const segment: Segment | undefined = place.pattern.segments[place.index]
    if (segment === undefined) continue
    if (segment !== 'any') {
      if (segment(name)) next.push({ ...place, index: place.index + 1 })
    } else if (staysInAny && !name.startsWith('.')) next.push(place)
  }
  return withSkipped(next)
}

/** `**` may stand for nothing. */
function withSkipped(places: readonly Place[]): readonly Place[] {
  const all = [...places]
  for (const { pattern, index } of all) {
    if (pattern.segments[index] !== 'any') continue
    if (!all.some((other) => other.pattern === pattern && other.index === index + 1))
      all.push({ pattern, index: index + 1 })
  }
  return all
}
