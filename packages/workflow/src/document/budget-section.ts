/**
 * The budgets that a file defines: `budgets: { api: { type: adaptive, bulkhead: true } }`. Options are spelt in
 * snake_case or camelCase, as in a policy.
 *
 * Invariant: every problem of the section is told at once, each at its own place. Imports the library and the source.
 */
import type { Budget } from 'reprise'
import { nearest } from 'reprise/internal'
import { BUDGET_TYPES, type BudgetOptions, type BudgetType, examplesOf, faultOf, kindOf } from './budget-types.js'
import { Findings } from './findings.js'
import { InputError, type Problem } from './problem.js'
import { parseSource, type Source } from './source.js'
import { camelCase, snakeCase } from './spelling.js'
import { fieldOf, hasFields, type LocatedValue, wholeOf } from './located.js'

export const BUDGETS_KEY = 'budgets'

export interface BudgetDefinition {
  readonly type: BudgetType
  /** As given, by the library's names. */
  readonly options: BudgetOptions
  /** A new one with every call. */
  readonly make: () => Budget
}

/** By name; empty without the section. */
export type BudgetDefinitions = ReadonlyMap<string, BudgetDefinition>

export function readBudgetSection(source: Source): BudgetDefinitions {
  const section = fieldOf(source, wholeOf(source), BUDGETS_KEY)
  if (section === undefined) return new Map()
  const findings = new Findings(source)
  const definitions = new Reader(findings).section(section)
  findings.done()
  return definitions
}

/** One of the section, by itself. */
export function checkBudget(findings: Findings, located: LocatedValue): void {
  new Reader(findings).budget(located)
}

/** As a flag gives it: a type, or `{type: adaptive, bulkhead: true}`. */
export function readBudgetFlag(flag: string, text: string): BudgetDefinition {
  const isType = !text.trim().startsWith('{')
  try {
    const source = parseSource(flag, isType ? JSON.stringify({ type: text }) : text)
    const findings = new Findings(source)
    const definition = new Reader(findings).budget(wholeOf(source))
    if (definition !== undefined) return definition
    throw new InputError(findings.problems)
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    throw new InputError(error.problems.map((problem) => ofFlag(flag, problem)))
  }
}

/** A flag has no lines. */
function ofFlag(flag: string, { path, message, suggestion }: Problem): Problem {
  const subject = path === undefined || path === 'type' ? flag : `${flag} ${path}`
  return { message: `${subject}: ${message}`, ...(suggestion !== undefined && { suggestion }) }
}

class Reader {
  private readonly findings: Findings
  private readonly source: Source

  constructor(findings: Findings) {
    this.findings = findings
    this.source = findings.source
  }

  section(section: LocatedValue): BudgetDefinitions {
    const definitions = new Map<string, BudgetDefinition>()
    if (!hasFields(section.data)) {
      this.fail(section, 'needs budgets by name', 'such as `{api: {type: adaptive}}`')
      return definitions
    }
    for (const key of Object.keys(section.data)) {
      const located = fieldOf(this.source, section, key) ?? section
      // A policy names a budget without the spaces around it.
      const name = key.trim()
      if (name === '') this.fail(located, 'needs a name', undefined, true)
      else if (definitions.has(name)) this.fail(located, 'this name stands here twice', undefined, true)
      const definition = this.budget(located)
      if (definition !== undefined) definitions.set(name, definition)
    }
    return definitions
  }

  /** Undefined after a problem. */
  budget(located: LocatedValue): BudgetDefinition | undefined {
    const before = this.findings.problems.length
    const type = this.type(located)
    if (type === undefined) return undefined
    const options = this.options(located, type)
    const { make } = kindOf(type)
    return this.findings.problems.length > before ? undefined : { type, options, make: () => make(options) }
  }

  private type(located: LocatedValue): BudgetType | undefined {
    const words = BUDGET_TYPES.join(', ')
    if (!hasFields(located.data)) {
      const isType = BUDGET_TYPES.some((type) => type === located.data)
      const example = `{type: ${isType ? String(located.data) : 'adaptive'}}`
      return this.fail(located, 'needs fields, with a `type`', `write \`${example}\``)
    }
    const field = fieldOf(this.source, located, 'type')
    if (field === undefined) return this.fail(located, 'needs a `type`', `it is one of ${words}`)
    const type = BUDGET_TYPES.find((candidate) => candidate === field.data)
    if (type !== undefined) return type
    const near = typeof field.data === 'string' ? nearest(field.data, BUDGET_TYPES) : undefined
    const shown = typeof field.data === 'object' ? 'this' : JSON.stringify(field.data)
    return this.fail(field, `${shown} is not one of ${words}`, near && `did you mean \`${near}\`?`)
  }

  private options(located: LocatedValue, type: BudgetType): BudgetOptions {
    const { required } = kindOf(type)
    const examples = examplesOf(type)
    const keys = Object.keys(located.data as object).filter((key) => key !== 'type')
    const isSnake = !keys.some((key) => /[a-z][A-Z]/.test(key))
    const spell = (name: string): string => (isSnake ? snakeCase(name) : name)
    const options: Record<string, unknown> = {}
    for (const key of keys) {
      const field = fieldOf(this.source, located, key) ?? located
      const name = camelCase(key)
      if (!Object.hasOwn(examples, name)) {
        const near = nearest(key, Object.keys(examples).map(spell))
        this.fail(field, `${type} has no such option`, near && `did you mean \`${near}\`?`, true)
      } else if (Object.hasOwn(options, name)) {
        this.fail(field, 'given in both spellings', undefined, true)
      } else {
        options[name] = field.data
        const fault = faultOf(type, name, field.data)
        if (fault !== undefined) this.fail(field, fault)
      }
    }
    const missing = required.filter((name) => !Object.hasOwn(options, name))
    if (missing.length > 0) {
      const names = missing.map((name) => `\`${spell(name)}\``).join(' and ')
      const example = missing.map((name) => `${spell(name)}: ${String(examples[name])}`).join(', ')
      this.fail(located, `${type} needs ${names}`, `such as \`{type: ${type}, ${example}}\``, true)
    }
    return options
  }

  private fail(located: LocatedValue, message: string, suggestion?: string, atKey = false): undefined {
    return this.findings.fail(located, message, suggestion, atKey)
  }
}
