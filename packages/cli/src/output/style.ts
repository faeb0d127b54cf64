/**
 * Colours, if the reader can see them. Imports settings and the types of process IO.
 * Invariant: nothing is said by colour alone, so that plain text says the same.
 */
import type { ColorMode } from '../settings.js'
import type { Output, ProcessIo } from '../process-io.js'

const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39], cyan: [36, 39] } as const

export type Style = Readonly<Record<keyof typeof CODES, (text: string) => string>>

export function styleFor(mode: ColorMode, output: Output, env: ProcessIo['env']): Style {
  return mode === 'always' || (mode === 'auto' && isTerminal(output, env)) ? COLOURED : PLAIN
}

/** Whether a person looks at it live. */
export function isTerminal(output: Output, env: ProcessIo['env']): boolean {
  return output.isTTY === true && !env['NO_COLOR'] && !env['CI'] && env['TERM'] !== 'dumb'
}

function makeStyle(paint: (text: string, on: number, off: number) => string): Style {
  const entries = Object.entries(CODES).map(([name, [on, off]]) => [name, (text: string) => paint(text, on, off)])
  return Object.fromEntries(entries) as Style
}

export const PLAIN = makeStyle((text) => text)
const COLOURED = makeStyle((text, on, off) => (text === '' ? '' : `\u001b[${on}m${text}\u001b[${off}m`))
