/** `strictKeys`: a key or a budget that is misspelt is refused, by the compiler where it can see it. */
import { createExecutor, type Executor, OptionsError, PolicyError, retry, timelineOf, tokenBucket } from 'reprise'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { failing } from './call-fixture.js'

const bucket = tokenBucket({ capacity: 10, refillPerSecond: 1 })

function refusal(make: () => unknown): OptionsError | PolicyError {
  try {
    make()
  } catch (error) {
    if (error instanceof OptionsError || error instanceof PolicyError) return error
    throw error
  }
  throw new Error('It was not refused')
}

describe('with strictKeys', () => {
  const executor = createExecutor({ strictKeys: true, policies: { fetch: { attempts: 2 }, save: {} } })

  test('the keys of the policies are the type of keys', async () => {
    expectTypeOf(executor).toEqualTypeOf<Executor<'fetch' | 'save'>>()
    await expect(executor.run('save', () => 'x')).resolves.toBe('x')
    await expect(executor.wrap('fetch', (n: number) => 2 * n)(2)).resolves.toBe(4)
    // @ts-expect-error: there is no such key.
    const misspelt = executor.run('sav', () => 'x')
    await expect(misspelt).rejects.toMatchObject({ code: 'no_policy', key: 'sav' })
  })

  test('another key is refused with the one that was meant, and the operation is not called', async () => {
    const operation = failing(new Error('down'))
    const open: Executor = executor
    const error: unknown = await open.run('fetsh', operation).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'no_policy', message: expect.stringContaining('Did you mean `fetch`?') })
    expect(timelineOf(error)).toMatchObject({ key: 'fetsh', stopReason: 'no_policy', attempts: [] })
    expect(operation.calls).toBe(0)
  })

  test('another key is refused though the call brings a policy, which known keys may', async () => {
    const open: Executor = executor
    await expect(open.run('other', () => 'x', { policy: {} })).rejects.toMatchObject({ code: 'no_policy' })
    await expect(open.run('save', () => 'x', { policy: {} })).resolves.toBe('x')
  })

  test('a policy that names a budget nobody registered is refused when the executor is made', () => {
    const policies = { fetch: { budget: 'apy' }, save: { hedge: { delay: 1, budget: 'writes' } }, other: {} }
    const error = refusal(() => createExecutor({ strictKeys: true, policies, budgets: { api: bucket } }))
    expect(error.problems).toEqual([
      {
        path: 'policies.fetch.budget',
        message: 'no budget "apy" is registered',
        suggestion: 'did you mean `api`?',
      },
      { path: 'policies.save.hedge.budget', message: 'no budget "writes" is registered' },
    ])
    const without = refusal(() => createExecutor({ strictKeys: true, policies: { fetch: { budget: 'api' } } }))
    expect(without.problems).toHaveLength(1)
  })

  test('a policy of a call that names such a budget is denied', async () => {
    const strict = createExecutor({ strictKeys: true, policies: { fetch: {} } })
    const call = strict.run('fetch', () => 'x', { policy: { budget: 'api' } })
    await expect(call).rejects.toMatchObject({ code: 'budget_denied', reason: 'budget_not_found' })
  })

  test('what it decides cannot be said otherwise beside it', () => {
    const contrary = { missingPolicyMode: 'fallback', missingBudgetMode: 'allow', defaultPolicy: {} } as const
    const error = refusal(() => createExecutor({ strictKeys: true, policies: {}, ...contrary }))
    expect(error.problems.map(({ path }) => path)).toEqual(['defaultPolicy', 'missingPolicyMode', 'missingBudgetMode'])
    const agreeing = { missingPolicyMode: 'deny', missingBudgetMode: 'deny' } as const
    expect(createExecutor({ strictKeys: true, policies: {}, ...agreeing })).toBeDefined()
    expect(refusal(() => createExecutor({ strictKeys: true })).problems).toMatchObject([{ path: 'policies' }])
  })
})

test('without strictKeys any text is a key, and takes the default policy', async () => {
  const executor = createExecutor({ policies: { fetch: {} } })
  expectTypeOf(executor).toEqualTypeOf<Executor>()
  await expect(executor.run('other', () => 'x')).resolves.toBe('x')
})

describe('the parameter of failIf', () => {
  interface Answer {
    readonly status: number
  }
  const ask = async (): Promise<Answer> => ({ status: 200 })

  test('has the type of what the operation gives', async () => {
    const answer = await retry(ask, {
      failIf: (result) => {
        expectTypeOf(result).toEqualTypeOf<Answer>()
        return result.status >= 500
      },
    })
    expectTypeOf(answer).toEqualTypeOf<Answer>()
    const executor = createExecutor()
    const policy = { attempts: 1 }
    await executor.run('ask', ({ attempt }) => attempt, { policy: { ...policy, failIf: (result) => result > 1 } })
    const { ok } = await executor.inspect('ask', ask, { policy: { failIf: (result) => result.status >= 500 } })
    expect([answer.status, ok]).toEqual([200, true])
  })

  test('may not be of another type', async () => {
    // @ts-expect-error: the operation gives no text.
    await expect(retry(ask, { attempts: 1, failIf: (result: string) => result === '' })).resolves.toEqual({
      status: 200,
    })
  })
})
