/** Where arithmetic and here-documents end, by looking ahead. Pure; each looks at a character once. Imports nothing. */

export interface Delimiter {
  readonly delimiter: string
  /** Then nothing in the document is expanded. */
  readonly isQuoted: boolean
  /** `<<-` */
  readonly stripsTabs: boolean
}

/** Behind the `))` of arithmetic whose first parenthesis is at `start`; -1 if this is a subshell within another. */
export function arithmeticEnd(text: string, start: number, limit: number): number {
  let depth = 0
  for (let at = start; at < limit; at++) {
    const char = text[at]
    if (char === '\\') at++
    else if (char === '"' || char === "'") at = quoteEnd(text, at, limit)
    else if (char === '(') depth++
    else if (char === ')' && --depth === 1) return text[at + 1] === ')' && at + 1 < limit ? at + 2 : -1
  }
  return -1
}

/** The index of the closing quote, or the limit. */
function quoteEnd(text: string, start: number, limit: number): number {
  const quote = text[start]
  for (let at = start + 1; at < limit; at++) {
    if (text[at] === quote) return at
    if (text[at] === '\\' && quote === '"') at++
  }
  return limit
}

/** What is behind a `<<`, and where it ends. */
export function delimiterAt(text: string, start: number, limit: number): Delimiter & { readonly end: number } {
  let at = start + 2
  const stripsTabs = text[at] === '-'
  if (stripsTabs) at++
  while (text[at] === ' ' || text[at] === '\t') at++
  const begin = at
  let delimiter = ''
  for (; at < limit && !/[\s;&|<>()]/.test(text[at]!); at++) {
    const char = text[at]!
    if (char === '\\') delimiter += text[++at] ?? ''
    else if (char === '"' || char === "'") {
      const end = quoteEnd(text, at, limit)
      delimiter += text.slice(at + 1, end)
      at = end
    } else delimiter += char
  }
  return { delimiter, isQuoted: /["'\\]/.test(text.slice(begin, at)), stripsTabs, end: Math.min(at, limit) }
}

/** Of a document that begins at `start`: the end of its text, and what follows the line of its delimiter. */
export function documentExtent(
  text: string,
  start: number,
  limit: number,
  { delimiter, isQuoted, stripsTabs }: Delimiter,
): { readonly end: number; readonly next: number } {
  let line = start
  let isContinued = false
  while (line < limit) {
    const newline = text.indexOf('\n', line)
    const lineEnd = newline === -1 || newline > limit ? limit : newline
    const content = text.slice(line, lineEnd)
    const next = Math.min(lineEnd + 1, limit)
    if (!isContinued && (stripsTabs ? content.replace(/^\t+/, '') : content) === delimiter) return { end: line, next }
    // A backslash at the end of a line joins it with the next.
    isContinued = !isQuoted && /(?:^|[^\\])(?:\\\\)*\\$/.test(content)
    line = next
  }
  return { end: limit, next: limit }
}
