/**
 * Hides secrets in everything that is kept or shown: texts, values, streams of bytes. Without secrets it costs nothing.
 *
 * Invariants: a secret is found as it is and in the forms of `secret-forms.ts`; what is found becomes `***`. A value of
 * fewer than four characters is not masked: it is in every text. `tooShort` names those, for whoever must refuse them.
 * A text in which nothing is found is returned as it is, the same string. Imports the parts of this directory.
 */
import type { Json } from 'reprise/durable'
import { Automaton } from './automaton.js'
import { cutSpans } from './mask-cut.js'
import { MaskStream } from './mask-stream.js'
import { formsOf, SHORTEST_SECRET } from './secret-forms.js'

export class Masker {
  /** Names of secrets that have a value, but one too short to be masked. */
  readonly tooShort: readonly string[]
  private readonly automaton: Automaton | null

  /** By name. Empty values are no secrets. */
  constructor(secrets: Readonly<Record<string, string>>) {
    const entries = Object.entries(secrets).filter(([, value]) => value.trim() !== '')
    this.tooShort = entries.filter(([, value]) => value.trim().length < SHORTEST_SECRET).map(([name]) => name)
    const forms = new Set(entries.flatMap(([, value]) => formsOf(value)))
    this.automaton = forms.size === 0 ? null : new Automaton([...forms].map((form) => Buffer.from(form)))
  }

  get isEmpty(): boolean {
    return this.automaton === null
  }

  maskText(text: string): string {
    if (this.automaton === null || text === '') return text
    const stream = new MaskStream(this.automaton)
    const bytes = Buffer.from(text)
    const masked = Buffer.concat([stream.write(bytes), stream.end()])
    return masked.equals(bytes) ? text : masked.toString()
  }

  /** A text that may have been cut: the beginning of a secret is masked as well, if it is half of it. */
  maskCutText(text: string): string {
    if (this.automaton === null || text === '') return text
    const bytes = Buffer.from(text)
    const spans = cutSpans(this.automaton, bytes)
    if (spans.length === 0) return text
    const ends = [0, ...spans.filter((_, index) => index % 2 === 1)]
    const starts = [...spans.filter((_, index) => index % 2 === 0), bytes.length]
    return ends.map((end, index) => bytes.toString('utf8', end, starts[index])).join('***')
  }

  /** Strings, keys, and numbers that are secrets; those become texts. */
  maskJson(json: Json): Json {
    if (this.automaton === null) return json
    if (typeof json === 'string') return this.maskText(json)
    if (typeof json === 'number') return this.maskNumber(json)
    if (Array.isArray(json)) return json.map((item: Json) => this.maskJson(item))
    if (typeof json !== 'object' || json === null) return json
    return Object.fromEntries(Object.entries(json).map(([key, item]) => [this.maskText(key), this.maskJson(item)]))
  }

  /** null: nothing has to be masked, and the bytes can be taken as they are. */
  stream(): MaskStream | null {
    return this.automaton === null ? null : new MaskStream(this.automaton)
  }

  private maskNumber(number: number): Json {
    const text = String(number)
    const masked = this.maskText(text)
    return masked === text ? number : masked
  }
}
