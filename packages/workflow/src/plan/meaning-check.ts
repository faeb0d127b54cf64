/**
 * What a document means beyond its shape: ids that are unique, gates that are declared, references that are known where
 * they stand. Goes on over whatever the shape check has refused. Imports the checks of its parts.
 */
import type { Findings } from '../document/findings.js'
import { WORKFLOW } from '../document/fields-document.js'
import { RETRY } from '../document/fields-retry.js'
import { ENV, STEP } from '../document/fields-step.js'
import { type FoundText, textsIn } from '../document/texts.js'
import { fieldOf, hasFields, itemsOf, type Spot, wholeOf } from '../document/spot.js'
import { type Shape, spellingsOf } from '../document/shape.js'
import { GateCheck } from './gate-check.js'
import type { Readers, References } from './readers.js'
import {
  faultOfNumeric,
  faultOfReference,
  faultOfShellName,
  type ReferenceFault,
  type Scope,
} from './reference-check.js'
import { checkStep } from './step-check.js'
import { stepIds } from './step-ids.js'

interface StepSpot {
  readonly spot: Spot
  readonly id: string
  readonly capture: string | undefined
  /** Whether the output is captured as text. */
  readonly isText: boolean
}

export function checkMeaning(findings: Findings, readers: Readers): void {
  const { source } = findings
  const whole = wholeOf(source)
  const steps = stepsOf(findings, whole)
  const params = namesUnder(findings, whole, 'params')
  checkIds(findings, steps)
  checkCaptures(findings, params, steps)

  const gates = new GateCheck(findings, whole)
  const variables = new Set([...namesUnder(findings, whole, 'env'), ...secretsOf(findings, whole)])
  const scopes = readers.isBlind === true ? undefined : new Scopes(params, steps, variables)
  const read = (spot: Spot, shape: Shape): void => {
    if (scopes === undefined) return
    const own = namesUnder(findings, spot, 'env')
    const scope = own.size === 0 ? scopes.now : { ...scopes.now, variables: new Set([...variables, ...own]) }
    checkTexts(findings, readers, textsIn(source, spot, shape), scope)
  }
  const env = fieldOf(source, whole, 'env')
  if (env !== undefined) read(env, ENV)
  const defaults = fieldOf(source, whole, 'retry_defaults')
  gates.check(defaults)
  // A fallback of the defaults may stand in for the first step: nothing is captured then.
  if (defaults !== undefined) read(defaults, RETRY)
  for (const step of steps) {
    const retry = fieldOf(source, step.spot, 'retry') ?? fieldOf(source, step.spot, 'retry_config')
    gates.check(retry)
    checkStep(findings, step.spot, retry)
    read(step.spot, STEP)
    scopes?.pass(step)
  }
}

/** What is known before each step, kept up to date rather than made anew for each. */
class Scopes {
  private readonly values: Set<string>
  private readonly steps = new Set<string>()
  private readonly laterValues: Map<string, string>
  private readonly laterSteps: Set<string>
  private readonly texts = new Map<string, string>()
  private readonly variables: ReadonlySet<string>

  constructor(params: ReadonlySet<string>, steps: readonly StepSpot[], variables: ReadonlySet<string>) {
    this.variables = variables
    const captures = steps.flatMap(({ capture, id }) => (capture === undefined ? [] : [[capture, id] as const]))
    this.values = new Set(params)
    // The first step that captures it is named.
    this.laterValues = new Map(captures.toReversed())
    this.laterSteps = new Set(steps.map(({ id }) => id))
  }

  get now(): Scope {
    const { values, steps, laterValues, laterSteps, texts, variables } = this
    return { values, steps, laterValues, laterSteps, texts, variables }
  }

  pass({ id, capture, isText }: StepSpot): void {
    this.steps.add(id)
    this.laterSteps.delete(id)
    if (capture === undefined) return
    // Two steps may capture one name: it is known to be text only if both do.
    if (!isText) this.texts.delete(capture)
    else if (!this.values.has(capture)) this.texts.set(capture, id)
    this.values.add(capture)
  }
}

function checkTexts(findings: Findings, readers: Readers, texts: readonly FoundText[], scope: Scope): void {
  for (const { spot, text, reading } of texts) {
    const { names, unset, numeric, problem }: References =
      reading === 'expression' ? readers.checkExpression(text) : readers[reading].referencesIn(text)
    if (problem !== undefined) {
      const { message, offset, suggestion } = problem
      // The last line break of a block is not part of what stands in the file.
      const part = { written: text.trimEnd(), offset }
      findings.failWithin(spot, part, message, suggestion, ` (at character ${offset + 1})`)
    }
    const sign = reading === 'expression' ? '' : '${'
    const check = (all: readonly string[] | undefined, fault: (name: string) => ReferenceFault | undefined): void => {
      for (const name of new Set(all)) {
        const found = fault(name)
        const part = { written: sign + name, offset: 0 }
        if (found !== undefined) findings.failWithin(spot, part, found.message, found.suggestion)
      }
    }
    check(names, (name) => faultOfReference(name, reading, scope))
    check(unset, (name) => faultOfShellName(name, scope))
    check(numeric, (name) => faultOfNumeric(name, scope))
  }
}

function stepsOf({ source }: Findings, whole: Spot): StepSpot[] {
  const field = WORKFLOW.fields.find(({ name }) => name === 'steps')
  const names = field === undefined ? [] : spellingsOf(field, WORKFLOW)
  const list = names.flatMap((name) => fieldOf(source, whole, name) ?? [])[0]
  const spots = list === undefined ? [] : itemsOf(source, list)
  const ids = stepIds(spots.map(({ data }) => ({ id: textOf(data, 'id'), name: textOf(data, 'name') })))
  return spots.map((spot, index) => {
    const format = textOf(spot.data, 'capture_format')
    // A script hands on what it returns, whatever that is.
    const isText = (format === undefined || format === 'text') && fieldOf(source, spot, 'script') === undefined
    return { spot, id: ids[index] ?? '', capture: textOf(spot.data, 'capture'), isText }
  })
}

function secretsOf({ source }: Findings, whole: Spot): readonly string[] {
  const list = fieldOf(source, whole, 'secrets')
  return list === undefined ? [] : itemsOf(source, list).flatMap(({ data }) => (typeof data === 'string' ? data : []))
}

function checkIds(findings: Findings, steps: readonly StepSpot[]): void {
  const seen = new Map<string, number>()
  steps.forEach(({ spot }, index) => {
    const place = fieldOf(findings.source, spot, 'id')
    if (place === undefined || typeof place.data !== 'string') return
    const id = place.data.toLowerCase()
    const first = seen.get(id)
    if (first === undefined) seen.set(id, index)
    else
      findings.fail(place, `step ${first + 1} has this id already`, 'each step has an id of its own, letter case aside')
  })
}

function checkCaptures(findings: Findings, params: ReadonlySet<string>, steps: readonly StepSpot[]): void {
  for (const { spot, capture } of steps) {
    const place = fieldOf(findings.source, spot, 'capture')
    if (place === undefined || capture === undefined || !params.has(capture)) continue
    findings.fail(place, `\`${capture}\` is a parameter already: choose another name`)
  }
}

function namesUnder({ source }: Findings, whole: Spot, key: string): ReadonlySet<string> {
  const data = fieldOf(source, whole, key)?.data
  return new Set(hasFields(data) ? Object.keys(data) : [])
}

/** As the plan will have it: a number is taken as text. */
function textOf(data: unknown, key: string): string | undefined {
  if (!hasFields(data) || !Object.hasOwn(data, key)) return undefined
  const value = data[key]
  const isText = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  return isText && String(value).trim() !== '' ? String(value) : undefined
}
