/** `reprise events RUN`: a line per event, with the time in full, so that lines of many runs can be sorted. Imports types. */
import type { Json } from 'reprise/durable'
import { plainText } from 'reprise/internal'
import { flatText } from '../flat-text.js'
import type { Display } from '../display.js'
import { padText } from '../width.js'

export interface EventRow {
  readonly timeMs: number
  readonly type: string
  readonly step: string | null
  readonly detail: Json
}

const TYPE_CELLS = 16
const STEP_CELLS = 12

export function eventLine({ timeMs, type, step, detail }: EventRow, { style }: Display): string {
  const cells = [
    style.dim(new Date(timeMs).toISOString()),
    style.bold(padText(plainText(type), TYPE_CELLS)),
    padText(plainText(step ?? ''), STEP_CELLS),
    flatText(detail),
  ]
  return cells.join('  ').trimEnd()
}
