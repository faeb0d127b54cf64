import { describe, expect, it } from 'vitest'
import type { Budget } from './budget.js'
import { BudgetRegistry } from './budget-registry.js'
import { BudgetError } from './errors.js'
import { ALLOWED } from './gate.js'

const budget = (): Budget => ({ allowAttempt: () => ALLOWED })

describe('a registry of budgets', () => {
  it('finds a budget by its name, trimmed on both sides', () => {
    const api = budget()
    const registry = new BudgetRegistry().register('  api ', api)
    for (const name of ['api', ' api', 'api\n']) expect(registry.get(name)).toBe(api)
  })

  it('knows nothing of other names', () => {
    const registry = new BudgetRegistry().register('api', budget())
    for (const name of ['', 'API', 'ap i', 'toString', '__proto__']) expect(registry.get(name)).toBeUndefined()
  })

  it('replaces a budget that is registered again', () => {
    const [old, fresh] = [budget(), budget()]
    const registry = new BudgetRegistry().register('api', old).register(' api', fresh)
    expect(registry.get('api')).toBe(fresh)
  })

  it.each(['', '  ', '\t\n'])('refuses the blank name %j', (name) => {
    expect(() => new BudgetRegistry().register(name, budget())).toThrow(BudgetError)
    expect(() => new BudgetRegistry().register(name, budget())).toThrow('A budget needs a name')
  })

  it.each([undefined, null, {}, { allowAttempt: true }])('refuses %o, which is no budget', (value) => {
    const registry = new BudgetRegistry()
    expect(() => registry.register('api', value as unknown as Budget)).toThrow(BudgetError)
    expect(() => registry.register('api', value as unknown as Budget)).toThrow('Budget api has no allowAttempt method')
    expect(registry.get('api')).toBeUndefined()
  })
})
