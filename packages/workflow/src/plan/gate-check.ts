/** Whether the breakers and budgets that policies name are declared. Imports spots and findings. */
import { nearest } from 'reprise/internal'
import type { Findings } from '../document/findings.js'
import { fieldOf, hasFields, type Spot } from '../document/spot.js'

export class GateCheck {
  private readonly findings: Findings
  private readonly breakers: readonly string[]
  private readonly budgets: readonly string[]

  constructor(findings: Findings, whole: Spot) {
    this.findings = findings
    this.breakers = this.namesUnder(whole, 'breakers')
    this.budgets = this.namesUnder(whole, 'budgets')
  }

  /** Of `retry` or `retry_defaults`. */
  check(retry: Spot | undefined): void {
    const breaker = retry && fieldOf(this.findings.source, retry, 'breaker')
    if (breaker !== undefined) this.declared(breaker, 'breakers', this.breakers, '{failure_threshold: 5}')
    const budget = retry && fieldOf(this.findings.source, retry, 'budget')
    const named = (budget && fieldOf(this.findings.source, budget, 'name')) ?? budget
    if (named !== undefined) this.declared(named, 'budgets', this.budgets, '{type: adaptive}')
  }

  private declared(spot: Spot, section: string, names: readonly string[], example: string): void {
    // A blank name is no budget, and is told of elsewhere for a breaker.
    if (typeof spot.data !== 'string' || spot.data.trim() === '') return
    const name = spot.data.trim()
    if (names.includes(name)) return
    const near = nearest(name, names)
    const cure = near === undefined ? `declare it: \`${section}: {${name}: ${example}}\`` : `did you mean \`${near}\`?`
    this.findings.fail(spot, `${JSON.stringify(name)} is not declared under \`${section}\``, cure)
  }

  /** A policy names a gate without the spaces around it. */
  private namesUnder(whole: Spot, section: string): string[] {
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
