/**
 * Lines of a terminal that are drawn again and again in the same place.
 *
 * Invariants: a picture is one write, and over what was there line by line, so that nothing flickers; nothing is changed
 * that would have to be put back, so that a process killed at any moment leaves a terminal as it was: breaking of lines is
 * switched off and on again within the write. Imports widths and the types of process IO.
 */
import type { Output } from '../../process-io.js'
import { textWidth } from '../width.js'

const NO_BREAKS = '\u001b[?7l'
const BREAKS = '\u001b[?7h'
const CLEAR_LINE = '\u001b[K'
const CLEAR_BELOW = '\u001b[J'

export class Screen {
  private readonly output: Output
  private drawn: readonly string[] = []
  private columns = 0

  constructor(output: Output) {
    this.output = output
  }

  /** Where it stays the same, nothing is written. */
  draw(lines: readonly string[]): void {
    const isSame = lines.length === this.drawn.length && lines.every((line, index) => line === this.drawn[index])
    if (isSame && this.columns === this.output.columns) return
    this.output.write(`${NO_BREAKS}${this.over(lines)}${BREAKS}`)
    this.drawn = lines
    this.columns = this.output.columns ?? 0
  }

  /** Puts lines that stay, as long as they are, in the place of the picture. */
  leave(lines: readonly string[]): void {
    if (lines.length + this.drawn.length === 0) return
    this.output.write(this.over(lines))
    this.drawn = []
  }

  /** Line by line rather than cleared first: some terminals keep what is cleared as if it had been scrolled away. */
  private over(lines: readonly string[]): string {
    return `${this.back()}${lines.map((line) => `${line}${CLEAR_LINE}\n`).join('')}${CLEAR_BELOW}`
  }

  /** To where the picture begins. */
  private back(): string {
    const columns = this.output.columns ?? 0
    // A window that was made narrower has broken the lines that were too long for it.
    const isNarrower = columns > 0 && columns < this.columns
    const rowsOf = (line: string): number => (isNarrower ? Math.max(1, Math.ceil(textWidth(line) / columns)) : 1)
    const rows = this.drawn.reduce((sum, line) => sum + rowsOf(line), 0)
    return rows === 0 ? '' : `\u001b[${rows}A\r`
  }
}
