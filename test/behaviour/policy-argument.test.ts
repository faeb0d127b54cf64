/** What a policy may be as an argument: for the compiler, and when it runs. */
import { type BackoffInput, createExecutor, normalizePolicy, retry } from 'reprise'
import { expect, it } from 'vitest'

it('a backoff that is no word of ours does not compile, and is refused', () => {
  // @ts-expect-error: every string has a method `fixed`, and yet is no backoff.
  const misspelt: BackoffInput = 'exp'
  expect(() => normalizePolicy({ backoff: misspelt })).toThrow('is not one of fixed')
  const forms: readonly BackoffInput[] = ['fixed', { fixed: {} }, { fixed: null }, { fibonacci: {} }, { type: 'fixed' }]
  for (const backoff of forms) expect(normalizePolicy({ backoff }).policy.backoff.type).toMatch(/^fi/)
})

it('a number of attempts, and false for one, are policies wherever a policy is taken', async () => {
  let calls = 0
  const fail = (): never => {
    calls++
    throw new Error('down')
  }
  await expect(retry(fail, false)).rejects.toThrow('down')
  expect(calls).toBe(1)
  expect(await retry(() => 'done', 3)).toBe('done')
  const executor = createExecutor({ policies: { mail: 1 }, defaultPolicy: false })
  await expect(executor.run('mail', fail)).rejects.toThrow('down')
  await expect(executor.run('other', fail)).rejects.toThrow('down')
  await expect(executor.run('other', fail, { policy: 1 })).rejects.toThrow('down')
  expect(calls).toBe(4)
})

it('jitter none is jitter false', () => {
  expect(normalizePolicy({ jitter: 'none' }).policy.jitter).toBe('none')
})

it.each([
  ['retries', 'did you mean `attempts`? It counts the first call as well'],
  ['minTimeout', 'did you mean `initialDelay`?'],
  ['maxTimeout', 'did you mean `maxDelay`?'],
])('%s, an option of another library, is answered with our name', (name, suggestion) => {
  expect(() => normalizePolicy({ [name]: 3 })).toThrow(
    expect.objectContaining({ problems: [{ path: name, message: 'unknown field', suggestion }] }) as Error,
  )
})

it('a budget named without any registered is a note on the timeline', async () => {
  const executor = createExecutor({ policies: { mail: { attempts: 1, budget: 'nope' } } })
  const { timeline } = await executor.inspect('mail', () => 'sent')
  expect(timeline.notes).toEqual(['Budget nope was not registered when the policy was read'])
})

it.each([
  [{}, 'The maximum delay 30s, the default, is below the initial delay 40s and cuts it: raise it to 40s.'],
  [{ maxDelay: '5s' }, 'The maximum delay 5s is below the initial delay 40s and cuts it: raise it to 40s.'],
])('a maximum below the initial delay is a note with the cure: %j', (given, note) => {
  expect(normalizePolicy({ initialDelay: '40s', ...given }).notes).toEqual([note])
})

it('a call of retry runs under its own policy, whatever the call before it was given', async () => {
  const twice = { attempts: 2, backoff: 'fixed', initialDelay: 0 } as const
  const listed = { ...twice, retryOn: ['network'] } as const
  const limited = { ...twice, attempts: 3, timeout: '1m' } as const
  const attemptsOf = async (policy: typeof twice | typeof listed | typeof limited | number): Promise<number> => {
    let calls = 0
    await retry(() => (calls++, Promise.reject(new Error('down'))), policy).catch(() => undefined)
    return calls
  }
  const counts: number[] = []
  for (const policy of [twice, listed, limited, 1, twice, twice, listed, listed, 1, 1, limited]) {
    counts.push(await attemptsOf(policy))
  }
  expect(counts).toEqual([2, 1, 3, 1, 2, 2, 1, 1, 1, 1, 3])
  expect(await retry(() => 'done')).toBe('done')
  await expect(retry(() => 'done', { attempts: 0 })).rejects.toThrow('Invalid policy')
  expect(await retry(() => 'done')).toBe('done')
  await expect(retry('x' as never)).rejects.toThrow('must be a function')
})
