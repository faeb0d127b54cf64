/** Where a text stops being JSON: the engine does not always say. One pass, no recursion. Imports nothing. */

const SPACE = /[ \t\r\n]*/y
const WORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\d.])|true|false|null/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y

/** What may come next. */
type State = 'value' | 'first_value' | 'key' | 'first_key' | 'colon' | 'after'

/** The offset of the first character that cannot be there; the length of the text if more is missing; -1 for JSON. */
export function jsonFaultAt(text: string): number {
  const open: ('[' | '{')[] = []
  let state: State = 'value'
  let at = 0
  const close = (): void => {
    at++
    open.pop()
    state = 'after'
  }
  for (;;) {
    at = endOf(SPACE, text, at)
    const char = text[at]
    if (char === undefined) return state === 'after' && open.length === 0 ? -1 : at
    const inside = open.at(-1)
    if (state === 'after') {
      if ((char === ']' && inside === '[') || (char === '}' && inside === '{')) close()
      else if (char === ',' && inside !== undefined) {
        at++
        state = inside === '[' ? 'value' : 'key'
      } else return at
    } else if (state === 'colon') {
      if (char !== ':') return at
      at++
      state = 'value'
    } else if ((char === ']' && state === 'first_value') || (char === '}' && state === 'first_key')) close()
    else if ((char === '[' || char === '{') && state !== 'key' && state !== 'first_key') {
      open.push(char)
      at++
      state = char === '[' ? 'first_value' : 'first_key'
    } else {
      const isKey: boolean = state === 'key' || state === 'first_key'
      const end = char === '"' ? stringEnd(text, at) : isKey ? at : endOf(WORD, text, at)
      if (end <= at) return end === at ? at : -end
      at = end
      state = isKey ? 'colon' : 'after'
    }
  }
}

/** Behind the closing quote; what cannot be in a string is the negative of where it is. */
function stringEnd(text: string, start: number): number {
  let at = start + 1
  for (;;) {
    const char = text[at]
    if (char === '"') return at + 1
    if (char === undefined || char < ' ') return -at
    const end = char === '\\' ? endOf(ESCAPE, text, at) : at + 1
    if (end === at) return -at
    at = end
  }
}

function endOf(token: RegExp, text: string, at: number): number {
  token.lastIndex = at
  return token.test(text) ? token.lastIndex : at
}
