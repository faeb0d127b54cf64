/** How many cells of a terminal a text takes, and making it take so many. Imports nothing. */

/** Escape sequences of our own styles: they take no cell. */
// oxlint-disable-next-line no-control-regex -- it is the control that is looked for
const STYLES = /\u001b\[\d+m/g
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{17000}-\u{18cff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u
const NONE = /^[\p{Mn}\p{Me}\u00ad\u200b-\u200d\u2060\ufeff]$/u
/** Asks for the coloured form of the sign before it, which takes two cells. */
const EMOJI_FORM = '\ufe0f'
const SIMPLE = /^[ -~]*$/
const ELLIPSIS = '…'

export function textWidth(text: string): number {
  const plain = text.includes('\u001b') ? text.replaceAll(STYLES, '') : text
  if (SIMPLE.test(plain)) return plain.length
  let cells = 0
  for (const character of plain) cells += cellsOf(character)
  return cells
}

/** At most so many cells of a text without styles; what is cut ends with an ellipsis. */
export function cutText(text: string, cells: number): string {
  if (cells <= 0) return ''
  if (textWidth(text) <= cells) return text
  let kept = ''
  let taken = 0
  for (const character of text) {
    taken += cellsOf(character)
    if (taken > cells - 1) break
    kept += character
  }
  return kept.trimEnd() + ELLIPSIS
}

export function padText(text: string, cells: number, align: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, cells - textWidth(text)))
  return align === 'left' ? text + space : space + text
}

/** Rather too many than too few: a line that is too long breaks, and a drawing that counted its lines with it. */
function cellsOf(character: string): number {
  if (character === EMOJI_FORM) return 1
  return NONE.test(character) ? 0 : WIDE.test(character) ? 2 : 1
}
