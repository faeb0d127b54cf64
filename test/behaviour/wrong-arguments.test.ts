/** What somebody sees who gives the right things in the wrong place: the message says where they belong. */
import { createExecutor, retry } from 'reprise'
import { describe, expect, it } from 'vitest'

const operation = (): number => 1
/** Arguments that the compiler refuses, as plain JavaScript gives them. */
const loose = (value: unknown): never => value as never

async function messageOf(call: () => unknown): Promise<string> {
  try {
    await call()
  } catch (error) {
    return (error as Error).message
  }
  return 'no error'
}

describe('retry', () => {
  it('says of a promise that it needs the function that makes it', async () => {
    const message = await messageOf(() => retry(loose(Promise.resolve(1))))
    expect(message).toBe('The operation must be a function, not a promise: write `() => fetch(url)`')
  })

  it('says of fields of a policy among its options that the policy comes before them', async () => {
    const message = await messageOf(() => retry(operation, {}, loose({ attempts: 3 })))
    expect(message).toBe(
      'Invalid options of retry: attempts: unknown option (it belongs to the policy: `retry(operation, policy, options)`)',
    )
  })

  it('says of a signal in the policy that it is an option', async () => {
    const message = await messageOf(() => retry(operation, loose({ signal: new AbortController().signal })))
    expect(message).toContain('`retry(operation, policy, {signal})`')
  })
})

describe('createExecutor', () => {
  it.each([{ attempts: 3 }, { policy: { attempts: 3 } }, { initialDelay: '1s' }])(
    'says of %j where policies belong',
    async (options) => {
      expect(await messageOf(() => createExecutor(loose(options)))).toContain(
        'unknown option (it belongs to `policies` or `defaultPolicy`)',
      )
    },
  )

  it('keeps the suggestion for an option that is only misspelt', async () => {
    expect(await messageOf(() => createExecutor(loose({ polices: {} })))).toBe(
      'Invalid options of createExecutor: polices: unknown option (did you mean `policies`?)',
    )
  })
})

describe('a call of an executor', () => {
  const executor = createExecutor()

  it('without a key says that the key comes first', async () => {
    const calls = [
      () => executor.run(loose(operation), loose(undefined)),
      () => executor.inspect(loose(operation), loose(undefined)),
      () => executor.wrap(loose(operation), loose(undefined)),
    ]
    for (const call of calls) {
      const message = await messageOf(call)
      expect(message).toContain('the key comes first')
    }
  })

  it('refuses options that it would ignore', async () => {
    const expected = 'Invalid options of a call: attempts: unknown option (it belongs to `policy`)'
    expect(await messageOf(() => executor.run('key', operation, loose({ attempts: 3 })))).toBe(expected)
    expect(await messageOf(() => executor.inspect('key', operation, loose({ attempts: 3 })))).toBe(expected)
    expect(await messageOf(() => executor.run('key', operation, loose({ singal: undefined })))).toBe(
      'Invalid options of a call: singal: unknown option (did you mean `signal`?)',
    )
  })

  it('takes a signal, a policy, or neither', async () => {
    const { signal } = new AbortController()
    expect(await executor.run('key', operation, {})).toBe(1)
    expect(await executor.run('key', operation, { signal, policy: 2 })).toBe(1)
    expect(await executor.inspect('key', operation, { signal: undefined })).toMatchObject({ ok: true, value: 1 })
  })
})
