/**
 * XML as text. Imports the plain text of the library.
 * Invariant: whatever the texts and values are, the result is well-formed; numbers have one digit after the point at
 * most, so that the same picture is the same bytes.
 */
import { plainText } from 'reprise/internal'

type Values = Readonly<Record<string, string | number>>

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Text of somebody else. Controls and halves of characters are no XML, even when escaped. */
export function xmlText(text: string, max = 500): string {
  return escaped(wellFormed(plainText(text, max)))
}

/** Lines that the caller has already made plain. */
export function xmlLines(lines: readonly string[]): string {
  return lines.map((line) => escaped(wellFormed(line))).join('\n')
}

/** For a value of `tag`, which escapes it. */
export function xmlValue(text: string, max = 500): string {
  return wellFormed(plainText(text, max))
}

// oxlint-disable-next-line no-control-regex -- controls are what XML cannot hold
const NO_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]|\p{Surrogate}|[\ufffe\uffff]/gu

function wellFormed(text: string): string {
  return text.replaceAll(NO_XML, '\ufffd')
}

/** The values are ours; `inside` is XML already. */
export function tag(name: string, values: Values, inside?: string | readonly string[]): string {
  const written = Object.entries(values).map(
    ([key, value]) => ` ${key}="${typeof value === 'number' ? digits(value) : escaped(value)}"`,
  )
  const content = typeof inside === 'string' ? inside : inside?.filter((part) => part !== '').join('\n')
  return content === undefined ? `<${name}${written.join('')}/>` : `<${name}${written.join('')}>${content}</${name}>`
}

export function digits(value: number): string {
  const rounded = Math.round(value * 10) / 10
  return Object.is(rounded, -0) ? '0' : String(rounded)
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? '')
}
