/** How many cells of a terminal a text takes. Imports nothing. */

/** Escape sequences of our own styles: they take no cell. */
// oxlint-disable-next-line no-control-regex -- it is the control that is looked for
const STYLES = /\u001b\[\d+m/g
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u
const NONE = /^[\p{M}\u200b-\u200d]$/u

export function textWidth(text: string): number {
  let cells = 0
  for (const character of text.replaceAll(STYLES, '')) {
    cells += NONE.test(character) ? 0 : WIDE.test(character) ? 2 : 1
  }
  return cells
}
