/** Strings of paths: `'…'` and `"…"` with the escapes of JSON, and the quote itself escaped. Imports nothing. */

/** Neither a quote, a backslash nor a control character. */
const PLAIN = /[ !#-&(-[\]-\u{10ffff}]*/uy
const SIMPLE: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  '/': '/',
  '\\': '\\',
}
/** One character: not half of a pair. */
const UNICODE =
  /\\u(?:([0-9a-cefA-CEF][\da-fA-F]{3}|[dD][0-7][\da-fA-F]{2})|([dD][89abAB][\da-fA-F]{2})\\u([dD][c-fC-F][\da-fA-F]{2}))/y

export type PathString =
  | {
      readonly value: string
      /** Behind the closing quote. */
      readonly end: number
    }
  | { readonly faultAt: number }

/** `start`: of the opening quote. */
export function readPathString(text: string, start: number): PathString {
  const quote = text[start]!
  let value = ''
  for (let at = start + 1; ; ) {
    PLAIN.lastIndex = at
    const plain = PLAIN.exec(text)?.[0] ?? ''
    // Without its partner, half of a pair is no character.
    const half = plain.search(/\p{Surrogate}/u)
    if (half !== -1) return { faultAt: at + half }
    value += plain
    at += plain.length
    const char = text[at]
    if (char === quote) return { value, end: at + 1 }
    if (char === '"' || char === "'") {
      value += char
      at++
      continue
    }
    if (char !== '\\') return { faultAt: at }
    const escape = readEscape(text, at, quote)
    if (escape === null) return { faultAt: at }
    value += escape.character
    at = escape.end
  }
}

function readEscape(text: string, at: number, quote: string): { character: string; end: number } | null {
  const sign = text[at + 1] ?? ''
  const simple = sign === quote ? quote : SIMPLE[sign]
  if (simple !== undefined) return { character: simple, end: at + 2 }
  UNICODE.lastIndex = at
  const found = UNICODE.exec(text)
  if (found === null) return null
  const units = found.slice(1).filter((unit) => unit !== undefined)
  return { character: String.fromCharCode(...units.map((unit) => Number.parseInt(unit, 16))), end: UNICODE.lastIndex }
}
