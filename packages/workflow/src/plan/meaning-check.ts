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
import { faultOfReference, type Scope } from './reference-check.js'
import { checkStep } from './step-check.js'
import { stepIds } from './step-ids.js'

interface StepSpot {
  readonly spot: Spot
  readonly id: string
  readonly capture: string | undefined
}

export function checkMeaning(findings: Findings, readers: Readers): void {
  const { source } = findings
  const whole = wholeOf(source)
  const steps = stepsOf(findings, whole)
  const params = namesUnder(findings, whole, 'params')
  checkIds(findings, steps)
  checkCaptures(findings, params, steps)

  const gates = new GateCheck(findings, whole)
  const scopes = readers.isBlind === true ? undefined : new Scopes(params, steps)
  const read = (spot: Spot, shape: Shape): void => {
    if (scopes !== undefined) checkTexts(findings, readers, textsIn(source, spot, shape), scopes.now)
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

  constructor(params: ReadonlySet<string>, steps: readonly StepSpot[]) {
    const captures = steps.flatMap(({ capture, id }) => (capture === undefined ? [] : [[capture, id] as const]))
    this.values = new Set(params)
    // The first step that captures it is named.
    this.laterValues = new Map(captures.toReversed())
    this.laterSteps = new Set(steps.map(({ id }) => id))
  }

  get now(): Scope {
    return { values: this.values, steps: this.steps, laterValues: this.laterValues, laterSteps: this.laterSteps }
  }

  pass({ id, capture }: StepSpot): void {
    this.steps.add(id)
    this.laterSteps.delete(id)
    if (capture !== undefined) this.values.add(capture)
  }
}

function checkTexts(findings: Findings, readers: Readers, texts: readonly FoundText[], scope: Scope): void {
  for (const { spot, text, reading } of texts) {
    const { names, problem }: References =
      reading === 'expression' ? readers.checkExpression(text) : readers[reading].referencesIn(text)
    if (problem !== undefined) findings.fail(spot, problem)
    for (const name of new Set(names)) {
      const fault = faultOfReference(name, reading, scope)
      if (fault !== undefined) findings.fail(spot, fault.message, fault.suggestion)
    }
  }
}

function stepsOf({ source }: Findings, whole: Spot): StepSpot[] {
  const field = WORKFLOW.fields.find(({ name }) => name === 'steps')
  const names = field === undefined ? [] : spellingsOf(field, WORKFLOW)
  const list = names.flatMap((name) => fieldOf(source, whole, name) ?? [])[0]
  const spots = list === undefined ? [] : itemsOf(source, list)
  const ids = stepIds(spots.map(({ data }) => ({ id: textOf(data, 'id'), name: textOf(data, 'name') })))
  return spots.map((spot, index) => ({ spot, id: ids[index] ?? '', capture: textOf(spot.data, 'capture') }))
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
