/**
 * What a document means beyond its shape: ids that are unique, gates that are declared, references that are known where
 * they stand. Goes on over whatever the shape check has refused. Imports the checks of its parts.
 */
import type { Findings } from '../document/findings.js'
import { CONCURRENCY, OUTPUTS } from '../document/fields-document.js'
import { MAP } from '../document/fields-map.js'
import { RETRY } from '../document/fields-retry.js'
import { ENV, STEP, TEMPLATE_STEP, UNTIL_SHAPE, WHEN_FIELD } from '../document/fields-step.js'
import { textsIn } from '../document/texts.js'
import { fieldOf, hasFields, itemsOf, type LocatedValue, wholeOf } from '../document/located.js'
import { fieldFor, type FieldsShape, type Shape } from '../document/shape.js'
import { GateCheck } from './gate-check.js'
import { checkMap } from './map-check.js'
import { type LocatedMap, locatedPhases, type LocatedStep } from './located-phases.js'
import type { Readers } from './readers.js'
import type { Scope } from './reference-check.js'
import { Scopes } from './scopes.js'
import { checkStep } from './step-check.js'
import { checkTexts } from './text-check.js'

export function checkMeaning(findings: Findings, readers: Readers): void {
  const whole = wholeOf(findings.source)
  const phases = locatedPhases(findings.source, whole)
  new MeaningCheck(findings, readers, whole).check(phases)
}

/** Fields of a map that choose among the items. */
const SELECTION = ['json_path', 'filter', 'distinct', 'sort_by']

const WITHOUT_UNTIL = new Map([STEP, TEMPLATE_STEP].map((shape) => [shape, withoutField(shape, 'until')]))

class MeaningCheck {
  private readonly findings: Findings
  private readonly readers: Readers
  private readonly whole: LocatedValue
  private readonly params: ReadonlySet<string>
  private readonly variables: ReadonlySet<string>
  private readonly gates: GateCheck

  constructor(findings: Findings, readers: Readers, whole: LocatedValue) {
    this.findings = findings
    this.readers = readers
    this.whole = whole
    this.params = namesUnder(findings, whole, 'params')
    this.variables = new Set([...namesUnder(findings, whole, 'env'), ...secretsOf(findings, whole)])
    this.gates = new GateCheck(findings, whole)
  }

  check(phases: readonly LocatedStep[]): void {
    const { source } = this.findings
    const scopes = new Scopes(this.params, this.readers.isBlind === true ? [] : phases, this.variables)
    this.names(phases)
    const env = fieldOf(source, this.whole, 'env')
    if (env !== undefined) this.read(env, ENV, scopes.now)
    const concurrency = fieldOf(source, this.whole, 'concurrency')
    if (concurrency !== undefined) this.read(concurrency, CONCURRENCY, scopes.now)
    const defaults = fieldOf(source, this.whole, 'retry_defaults')
    this.gates.check(defaults)
    // A fallback of the defaults may stand in for the first step: nothing is captured then.
    if (defaults !== undefined) this.read(defaults, RETRY, scopes.now)
    this.phases(
      phases.filter(({ isHandler }) => isHandler !== true),
      scopes,
    )
    // Filled in before the steps of `on_failure` and `finally` begin.
    const outputs = fieldOf(source, this.whole, 'outputs')
    if (outputs !== undefined) this.read(outputs, OUTPUTS, scopes.now)
    scopes.end()
    this.phases(
      phases.filter(({ isHandler }) => isHandler === true),
      scopes,
    )
  }

  private phases(phases: readonly LocatedStep[], scopes: Scopes): void {
    for (const phase of phases) {
      if (phase.map === undefined) this.step(phase, STEP, scopes)
      else this.map(phase, phase.map, scopes)
      // Where no text is read, no name is looked up: of a document of 100 000 steps it is a tenth of the work.
      if (this.readers.isBlind === true) continue
      scopes.pass(phase)
      this.until(phase, scopes)
    }
  }

  private names(steps: readonly LocatedStep[]): void {
    checkIds(this.findings, steps)
    checkCaptures(this.findings, this.params, steps)
  }

  private step({ located }: LocatedStep, shape: FieldsShape, scopes: Scopes): void {
    const { source } = this.findings
    const retry = fieldOf(source, located, 'retry') ?? fieldOf(source, located, 'retry_config')
    // A gate in a template is refused wherever it is declared.
    if (shape === STEP) this.gates.check(retry)
    checkStep(this.findings, located, retry)
    this.read(located, WITHOUT_UNTIL.get(shape) ?? shape, scopes.now)
  }

  /** Once the step has been passed: its condition sees what it captures. */
  private until({ located, map }: LocatedStep, scopes: Scopes): void {
    const until = map === undefined ? fieldOf(this.findings.source, located, 'until') : undefined
    if (until !== undefined) this.read(until, UNTIL_SHAPE, scopes.now)
  }

  private map(phase: LocatedStep, map: LocatedMap, scopes: Scopes): void {
    const { source } = this.findings
    checkMap(this.findings, map)
    this.gates.check(map.errorPolicy && fieldOf(source, map.errorPolicy, 'item_retry'))
    const when = phase.located === map.located ? undefined : fieldOf(source, phase.located, 'when')
    if (when !== undefined) this.read(when, WHEN_FIELD.shape, scopes.now)
    this.field(map.located, 'input', scopes.now)
    for (const name of SELECTION) this.field(map.located, name, scopes.selection)
    const steps = [...map.template, ...map.onItemError]
    this.names(steps)
    const batch = fieldOf(source, map.located, 'batch')?.data
    const inner = scopes.within(map.template, typeof batch === 'number' && batch > 1)
    // It looks at one item, also where an attempt works on several.
    this.field(map.located, 'on_interrupt', scopes.within(map.template).now)
    for (const step of map.template) {
      this.step(step, TEMPLATE_STEP, inner)
      inner.pass(step)
      this.until(step, inner)
    }
    // Which steps of the template have run is not known then.
    const after = scopes.within(map.onItemError)
    for (const step of map.onItemError) {
      this.step(step, TEMPLATE_STEP, after)
      after.pass(step)
      this.until(step, after)
    }
  }

  private field(map: LocatedValue, name: string, scope: Scope): void {
    const located = fieldOf(this.findings.source, map, name)
    const field = fieldFor(MAP, name)
    if (located !== undefined && field !== undefined) this.read(located, field.shape, scope)
  }

  private read(located: LocatedValue, shape: Shape, scope: Scope): void {
    if (this.readers.isBlind === true) return
    const own = namesUnder(this.findings, located, 'env')
    const known = own.size === 0 ? scope : { ...scope, variables: new Set([...this.variables, ...own]) }
    checkTexts(this.findings, this.readers, textsIn(this.findings.source, located, shape), known)
  }
}

function withoutField(shape: FieldsShape, name: string): FieldsShape {
  return { ...shape, fields: shape.fields.filter((one) => one.name !== name) }
}

function secretsOf({ source }: Findings, whole: LocatedValue): readonly string[] {
  const list = fieldOf(source, whole, 'secrets')
  return list === undefined ? [] : itemsOf(source, list).flatMap(({ data }) => (typeof data === 'string' ? data : []))
}

function checkIds(findings: Findings, steps: readonly LocatedStep[]): void {
  const seen = new Map<string, number>()
  steps.forEach(({ located, id: given, map }, index) => {
    // Of `mode: mapreduce`, which gives its map an id.
    if (map?.located === located) {
      seen.set(given, index)
      return
    }
    const place = fieldOf(findings.source, located, 'id')
    if (place === undefined || typeof place.data !== 'string') return
    const id = place.data.toLowerCase()
    const first = seen.get(id)
    if (first === undefined) seen.set(id, index)
    else
      findings.fail(place, `step ${first + 1} has this id already`, 'each step has an id of its own, letter case aside')
  })
}

function checkCaptures(findings: Findings, params: ReadonlySet<string>, steps: readonly LocatedStep[]): void {
  for (const { located, capture } of steps) {
    const place = fieldOf(findings.source, located, 'capture')
    if (place === undefined || capture === undefined || !params.has(capture)) continue
    findings.fail(place, `\`${capture}\` is a parameter already: choose another name`)
  }
}

function namesUnder({ source }: Findings, whole: LocatedValue, key: string): ReadonlySet<string> {
  const data = fieldOf(source, whole, key)?.data
  return new Set(hasFields(data) ? Object.keys(data) : [])
}
