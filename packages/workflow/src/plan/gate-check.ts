/** Whether the breakers and budgets that policies name are declared. Imports located values and findings. */
import { normalizePolicy } from 'reprise'
import { nearest } from 'reprise/internal'
import type { Findings } from '../document/findings.js'
import { fieldOf, hasFields, type LocatedValue } from '../document/located.js'

export class GateCheck {
  private readonly findings: Findings
  private readonly breakers: readonly string[]
  private readonly budgets: readonly string[]
  /** Settings of breakers by key, as they were first met. */
  private readonly settings = new Map<string, { readonly written: string; readonly place: string }>()

  constructor(findings: Findings, whole: LocatedValue) {
    this.findings = findings
    this.declaredSettings(whole)
    this.breakers = this.namesUnder(whole, 'breakers')
    this.budgets = this.namesUnder(whole, 'budgets')
  }

  /** Of `retry` or `retry_defaults`. */
  check(retry: LocatedValue | undefined): void {
    const breaker = retry && fieldOf(this.findings.source, retry, 'breaker')
    if (breaker !== undefined) this.declared(breaker, 'breakers', this.breakers, '{failure_threshold: 5}')
    if (breaker !== undefined) this.oneSetting(breaker)
    const budget = retry && fieldOf(this.findings.source, retry, 'budget')
    const named = (budget && fieldOf(this.findings.source, budget, 'name')) ?? budget
    if (named !== undefined) this.declared(named, 'budgets', this.budgets, '{type: adaptive}')
  }

  /** A breaker that is written twice under one key would have the settings of whoever asks it. */
  private oneSetting(located: LocatedValue): void {
    const key = hasFields(located.data) ? located.data['key'] : undefined
    if (typeof key !== 'string') return
    const written = settingsOf(located.data)
    const first = this.settings.get(key.trim())
    if (first === undefined) this.settings.set(key.trim(), { written, place: located.path })
    else if (first.written !== written)
      this.findings.fail(
        located,
        `the breaker ${JSON.stringify(key.trim())} has other settings at ${first.place}`,
        `declare it once under \`breakers\`, and write \`breaker: ${key.trim()}\``,
      )
  }

  private declaredSettings(whole: LocatedValue): void {
    const declared = fieldOf(this.findings.source, whole, 'breakers')
    for (const [key, settings] of hasFields(declared?.data) ? Object.entries(declared.data) : [])
      this.settings.set(key.trim(), { written: settingsOf(settings), place: `breakers.${key.trim()}` })
  }

  private declared(located: LocatedValue, section: string, names: readonly string[], example: string): void {
    // A blank name is no budget, and is told of elsewhere for a breaker.
    if (typeof located.data !== 'string' || located.data.trim() === '') return
    const name = located.data.trim()
    if (names.includes(name)) return
    const near = nearest(name, names)
    const cure = near === undefined ? `declare it: \`${section}: {${name}: ${example}}\`` : `did you mean \`${near}\`?`
    this.findings.fail(located, `${JSON.stringify(name)} is not declared under \`${section}\``, cure)
  }

  /** A policy names a gate without the spaces around it. */
  private namesUnder(whole: LocatedValue, section: string): string[] {
    const { source } = this.findings
    const declared = fieldOf(source, whole, section)
    const names = new Set<string>()
    for (const key of hasFields(declared?.data) ? Object.keys(declared.data) : []) {
      const place = declared && fieldOf(source, declared, key)
      if (names.has(key.trim()) && place) this.findings.fail(place, 'this name stands here twice', undefined, true)
      names.add(key.trim())
    }
    return [...names]
  }
}

/** The same for two that mean the same; whatever cannot be read is told of elsewhere. */
function settingsOf(settings: unknown): string {
  try {
    const { key: _, ...others } = normalizePolicy({ breaker: hasFields(settings) ? settings : {} }).policy.breaker ?? {}
    return JSON.stringify(others)
  } catch {
    return JSON.stringify(settings)
  }
}
