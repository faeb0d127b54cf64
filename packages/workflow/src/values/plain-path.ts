/**
 * The paths of RFC 9535 by which a document can be read as a stream: names, then all elements of what is there, as in
 * `$[*]`, `$.orders[*]` and `$['my orders'].rows[*]`. Imports nothing.
 */

const NAME = /\.([A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)/y
const QUOTED = /\[(?:'([^'\\]*)'|"([^"\\]*)")\]/y
const ALL = /(?:\[\*\]|\.\*)$/y

/** The names on the way to the elements; null for every other path, also for one that is none. */
export function plainPathOf(path: string): readonly string[] | null {
  if (!path.startsWith('$')) return null
  const names: string[] = []
  for (let at = 1; ; ) {
    const found = matchAt(ALL, path, at)
    if (found) return names
    const name = matchAt(NAME, path, at) ?? matchAt(QUOTED, path, at)
    if (!name) return null
    names.push(name[1] ?? name[2] ?? '')
    at += name[0].length
  }
}

function matchAt(token: RegExp, text: string, at: number): RegExpExecArray | null {
  token.lastIndex = at
  return token.exec(text)
}
