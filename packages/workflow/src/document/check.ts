/**
 * Checks a value against its shape, every problem at its own place.
 *
 * Invariants: reading goes on after a problem; what the library knows the rules of is left to it; nothing of the value
 * is called or changed. Imports shapes, located values and findings.
 */
import { nearest } from 'reprise/internal'
import { faultOfDuration, shortForm } from './duration-fault.js'
import type { Findings } from './findings.js'
import { hintForKey, hintForValue } from './hints.js'
import { faultOfName, mendedName, type NameRule } from './names.js'
import { faultOfNumber } from './number-fault.js'
import { describeValue, expectedOf, kindsOf, kindOfValue } from './shape-words.js'
import {
  branchOf,
  type CheckedBy,
  type DataShape,
  type Field,
  fieldFor,
  type FieldsShape,
  type ListShape,
  type NamedShape,
  type NumberShape,
  type Shape,
  type TextShape,
} from './shape.js'
import { sourceTextOf } from './source.js'
import { fieldOf, forEachItem, hasFields, keyOf, type LocatedValue } from './located.js'

/** Who checks what the table only describes. */
export type Delegates = Readonly<Record<Exclude<CheckedBy, 'library'>, (located: LocatedValue) => void>>

/** Somebody who misspelt more than these has another problem; and a file of nothing else must not take long. */
const MAX_SUGGESTIONS = 100

export class ShapeCheck {
  private readonly findings: Findings
  private readonly delegates: Delegates

  constructor(findings: Findings, delegates: Delegates) {
    this.findings = findings
    this.delegates = delegates
  }

  /** `owner` is the title of the fields that this value is one of, for a hint. */
  check(located: LocatedValue, shape: Shape, owner = ''): void {
    const checkedBy = 'checkedBy' in shape ? shape.checkedBy : undefined
    if (checkedBy !== undefined && checkedBy !== 'library') return this.delegates[checkedBy](located)
    if (!kindsOf(shape).includes(kindOfValue(located.data))) return this.mismatch(located, shape, owner)
    switch (shape.kind) {
      case 'text':
        return this.text(located, shape, owner)
      case 'words':
        if (!shape.words.includes(located.data as string)) this.mismatch(located, shape, owner)
        return
      case 'number':
        return this.number(located, shape, owner)
      case 'duration': {
        const fault = faultOfDuration(located.data)
        if (fault !== undefined) this.findings.fail(located, fault, shortForm(located.data))
        return
      }
      case 'data':
        return this.data(located, shape)
      case 'list':
        return this.list(located, shape, owner)
      case 'named':
        return this.named(located, shape, owner)
      case 'fields':
        return this.fields(located, shape)
      case 'fork':
        return this.fields(located, branchOf(shape, located.data))
      case 'either':
        return this.either(located, shape.of, owner)
      case 'flag':
      case 'empty':
    }
  }

  // ── single values ──────────────────────────────────────────────────────────────────────────────

  private text(located: LocatedValue, shape: TextShape, owner: string): void {
    const value = String(located.data)
    if (typeof located.data !== 'string') {
      if (this.isTooLarge(located)) return
      // 1.10 would become 1.1, and 0x10 become 16.
      const written = sourceTextOf(this.findings.source, located.node)
      if (written !== undefined && written !== value) {
        this.findings.fail(located, `${written} would become ${value}`, `write it in quotes: '${written}'`)
      }
      return
    }
    if (value.includes('\0')) this.findings.fail(located, 'holds a NUL character, which no program can be given')
    else if (!shape.mayBeBlank && value.trim() === '')
      this.findings.fail(located, 'is blank', 'give it a value, or leave it out')
    else if (shape.isLine === true && /[\r\n]/.test(value))
      this.findings.fail(located, 'holds a line break', hintForValue(value, shape, owner))
    else if (shape.rule !== undefined) {
      this.name(located, value, shape.rule)
    }
  }

  private name(located: LocatedValue, name: string, rule: NameRule, atKey = false): void {
    const fault = faultOfName(name, rule)
    if (fault === undefined) return
    const mended = mendedName(name, rule)
    this.findings.fail(located, fault, mended && `did you mean \`${mended}\`?`, atKey)
  }

  private number(located: LocatedValue, shape: NumberShape, owner: string): void {
    const value = located.data as number
    const { least = -Infinity, most = Number.MAX_SAFE_INTEGER, isWhole, isAbove, isBelow } = shape
    const isInside = (isAbove ? value > least : value >= least) && (isBelow ? value < most : value <= most)
    if (!isInside || !Number.isFinite(value) || (isWhole && !Number.isInteger(value)))
      this.mismatch(located, shape, owner)
  }

  private data(located: LocatedValue, shape: DataShape): void {
    const { data } = located
    if (this.isTooLarge(located)) return
    if (Array.isArray(data)) {
      forEachItem(this.findings.source, located, (item) => this.data(item, shape))
    } else if (hasFields(data)) {
      for (const key of Object.keys(data)) this.data(this.fieldAt(located, key), shape)
    }
  }

  private isTooLarge(located: LocatedValue): boolean {
    const fault = faultOfNumber(located.data)
    if (fault === undefined) return false
    const written = sourceTextOf(this.findings.source, located.node) ?? String(located.data)
    this.findings.fail(located, `${written} ${fault}`, `write it in quotes: '${written}'`)
    return true
  }

  // ── lists and maps ─────────────────────────────────────────────────────────────────────────────

  private list(located: LocatedValue, shape: ListShape, owner: string): void {
    const { length } = located.data as readonly unknown[]
    const { least, most = Infinity } = shape
    if (length < least)
      this.findings.fail(located, `needs a list of ${least === 1 ? 'one or more' : `${least} or more`}`)
    if (length > most) this.findings.fail(located, `needs a list of at most ${most}`)
    const seen = shape.isUnique === true ? new Set<unknown>() : undefined
    forEachItem(this.findings.source, located, (item) => {
      if (seen?.has(item.data) === true) this.findings.fail(item, `${describeValue(item.data)} stands here twice`)
      else this.check(item, shape.of, owner)
      seen?.add(item.data)
    })
  }

  private named(located: LocatedValue, shape: NamedShape, owner: string): void {
    for (const key of Object.keys(located.data as object)) {
      const place = this.fieldAt(located, key)
      this.name(place, key, shape.rule, true)
      this.check(place, shape.of, owner)
    }
  }

  private fields(located: LocatedValue, shape: FieldsShape): void {
    const given = new Map<string, LocatedValue>()
    /** Names that suggestions speak of: who wrote `shel` need not be told that there is no `shell`. */
    const meant: string[] = []
    for (const key of Object.keys(located.data as object)) {
      const place = this.fieldAt(located, key)
      const field = fieldFor(shape, key)
      if (field === undefined) {
        const suggestion = this.suggestKey(key, place.data, shape)
        for (const [, name = ''] of suggestion?.matchAll(/`(\w+)/g) ?? []) meant.push(name)
        this.findings.fail(place, 'unknown field', suggestion, true)
        continue
      }
      const other = given.get(field.name)
      if (other !== undefined) {
        this.findings.fail(place, `\`${keyOf(other)}\` says the same: keep one of them`, undefined, true)
      }
      this.check(place, field.shape, `${shape.title}.${field.name}`)
      given.set(field.name, other ?? place)
    }
    this.presence(located, shape, given, meant)
  }

  /** Which fields have to be there, and which not beside each other. */
  private presence(
    located: LocatedValue,
    shape: FieldsShape,
    given: ReadonlyMap<string, LocatedValue>,
    meant: readonly string[],
  ): void {
    for (const { name, isRequired, needs, examples } of demandingFields(shape)) {
      const place = given.get(name)
      if (place !== undefined && needs !== undefined && !given.has(needs)) {
        this.findings.fail(place, `says nothing without \`${needs}\``, undefined, true)
      }
      if (place !== undefined || isRequired !== true || meant.includes(name)) continue
      const example = examples?.[0]
      const such = typeof example === 'string' ? `${name}: ${example}` : shape.example
      this.findings.fail(located, `needs \`${name}\``, `such as \`${such}\``, true)
    }
    if (shape.oneOf !== undefined) this.oneOf(located, shape, shape.oneOf, given, meant)
  }

  private oneOf(
    located: LocatedValue,
    shape: FieldsShape,
    oneOf: readonly string[],
    given: ReadonlyMap<string, LocatedValue>,
    meant: readonly string[],
  ): void {
    let first: LocatedValue | undefined
    for (const name of oneOf) {
      const place = given.get(name)
      if (first !== undefined && place !== undefined) {
        const already = `\`${keyOf(first)}\` is there already`
        if (shape.title.endsWith('step'))
          this.findings.fail(place, `${already}, and a step does one thing`, 'make it two steps', true)
        else this.findings.fail(place, `${already}: keep one of them`, undefined, true)
      }
      first ??= place
    }
    const names = [...oneOf, ...(shape.alsoOneOf ?? [])]
    if (first === undefined && !names.some((name) => meant.includes(name))) {
      this.findings.fail(located, `needs one of ${names.join(', ')}`, `such as \`${shape.example}\``, true)
    }
  }

  private either(located: LocatedValue, shapes: readonly Shape[], owner: string): void {
    const kind = kindOfValue(located.data)
    const shape = shapes.find((candidate) => kindsOf(candidate).includes(kind))
    if (shape === undefined) return
    const isWord = shape.kind === 'words' && !shape.words.includes(located.data as string)
    if (isWord) this.mismatch(located, { kind: 'either', of: shapes }, owner)
    else this.check(located, shape, owner)
  }

  // ── words ──────────────────────────────────────────────────────────────────────────────────────

  private mismatch(located: LocatedValue, shape: Shape, owner: string): void {
    const hint = hintForValue(located.data, shape, owner)
    if (located.data === null) this.findings.fail(located, 'is empty', hint ?? 'give it a value, or leave it out')
    else this.findings.fail(located, `${describeValue(located.data)} is not ${expectedOf(shape)}`, hint)
  }

  private suggestKey(key: string, value: unknown, shape: FieldsShape): string | undefined {
    if (this.findings.problems.length >= MAX_SUGGESTIONS) return undefined
    const known = hintForKey(key, shape.title, value)
    if (known !== undefined) return known
    const near = nearest(
      key,
      shape.fields.flatMap((field) => [field.name, ...(field.aliases ?? [])]),
    )
    return near === undefined ? undefined : `did you mean \`${near}\`?`
  }

  private fieldAt(located: LocatedValue, key: string): LocatedValue {
    return fieldOf(this.findings.source, located, key) ?? located
  }
}

/** Of a group, those that have to be there or need another one. */
const demanding = new WeakMap<FieldsShape, readonly Field[]>()

function demandingFields(shape: FieldsShape): readonly Field[] {
  let fields = demanding.get(shape)
  if (fields === undefined) {
    fields = shape.fields.filter(({ isRequired, needs }) => isRequired === true || needs !== undefined)
    demanding.set(shape, fields)
  }
  return fields
}
