import fc from 'fast-check'
import { type PolicyInput, retry } from 'reprise'
import { describe, expect, test } from 'vitest'
import { type CommandError, failureOfCommand } from './command-error.js'
import type { CommandEnd } from './command.js'

type Matchers = NonNullable<PolicyInput['retryOn']>

const end = (change: Partial<CommandEnd>): CommandEnd => ({
  exitCode: 1,
  signal: null,
  spawnError: null,
  stdout: '',
  stdoutExceeded: false,
  stderrTail: '',
  stdoutTail: '',
  durationMs: 1,
  ...change,
})
const message = (change: Partial<CommandEnd>): string => failureOfCommand(end(change), 'curl').message

/** Whether a policy with these matchers would try again. */
async function isRetried(error: CommandError, retryOn: Matchers): Promise<boolean> {
  let calls = 0
  const operation = (): Promise<never> => {
    calls++
    return Promise.reject(error)
  }
  await expect(retry(operation, { attempts: 2, initialDelay: 0, retryOn })).rejects.toBe(error)
  return calls === 2
}

describe('the message', () => {
  test('is one line when one line was said', () => {
    const stderrTail = 'curl: (7) Failed to connect to localhost port 1: Connection refused\n'
    expect(message({ exitCode: 7, stderrTail })).toBe(`exit code 7: ${stderrTail.trim()}`)
  })

  test('starts with the line that says what went wrong, and goes on with the last lines', () => {
    const stderrTail =
      "/tmp/x.js:1\nthrow new Error('boom')\n^\n\nError: boom\n    at x.js:1:7\n    at node:x:2\n\nNode.js v20.20.2\n"
    const [first, ...rest] = message({ stderrTail }).split('\n')
    expect(first).toBe('exit code 1: Error: boom')
    expect(rest).toContain('    at x.js:1:7')
  })

  test('takes the last state of a line that was written over', () => {
    expect(message({ stderrTail: '10 %\r50 %\rfailed\r\n' }).split('\n')[0]).toBe('exit code 1: failed')
  })

  test('is of stdout when stderr has nothing but blanks', () => {
    expect(message({ exitCode: 2, stderrTail: ' \n', stdoutTail: 'no such table\n' })).toBe(
      'exit code 2: no such table',
    )
  })

  test('is the exit code alone when nothing was said', () => {
    expect(message({ exitCode: 3 })).toBe('exit code 3')
  })

  test('names the signal', () => {
    expect(message({ exitCode: null, signal: 'SIGSEGV' })).toBe('ended by SIGSEGV')
    expect(message({ exitCode: null, signal: 'SIGKILL' })).toMatch(/^killed by SIGKILL \(.*memory\)$/)
  })

  test('names what could not be started, once', () => {
    const spawnError = Object.assign(new Error('curl: no such program in PATH'), { code: 'ENOENT' })
    const error = failureOfCommand(end({ exitCode: null, spawnError }), 'curl')
    expect([error.message, error.code, error.exitCode]).toEqual([
      'could not start curl: no such program in PATH',
      'ENOENT',
      127,
    ])
    expect(failureOfCommand(end({ spawnError }), 'the shell').message).toBe(
      'could not start the shell: curl: no such program in PATH',
    )
  })

  test('has no control characters but line breaks and tabs, and a bound', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 5000 }), (stderrTail) => {
        const text = message({ stderrTail: `\u001B[31mred\u001B[0m \u001B]0;title\u0007${stderrTail}` })
        // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
        expect(text).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/)
        expect(text.length).toBeLessThan(2400)
      }),
    )
  })

  test('does not grow with the output', () => {
    expect(message({ stderrTail: `${'long line '.repeat(50)}\n`.repeat(100) }).length).toBeLessThan(2400)
  })
})

describe('the matchers', () => {
  const curl = (exitCode: number, stderrTail: string): CommandError =>
    failureOfCommand(end({ exitCode, stderrTail }), 'curl')

  test.each([
    ['network', curl(6, 'curl: (6) Could not resolve host: nowhere.invalid')],
    ['network', curl(56, 'curl: (56) Recv failure: Connection reset by peer')],
    [
      'network',
      failureOfCommand(end({ stderrTail: 'psql: error: connection to server failed: Connection refused' }), ''),
    ],
    ['timeout', curl(28, 'curl: (28) Operation timed out after 5001 milliseconds')],
    ['timeout', failureOfCommand(end({ exitCode: null, signal: 'SIGTERM' }), 'sleep', true)],
    ['5xx', curl(22, 'curl: (22) The requested URL returned error: 503')],
    ['rate_limit', curl(22, 'curl: (22) The requested URL returned error: 429')],
    ['network', failureOfCommand(end({ stdoutTail: 'connect ECONNREFUSED 127.0.0.1:5432' }), 'node')],
  ] as const)('find %s in what was said', async (word, error) => {
    expect(await isRetried(error, [word])).toBe(true)
  })

  test('find patterns and exit codes, of signals as a shell counts them', async () => {
    const killed = failureOfCommand(end({ exitCode: null, signal: 'SIGKILL' }), 'x')
    expect(killed.exitCode).toBe(137)
    expect(await isRetried(killed, [{ exitCode: [137] }])).toBe(true)
    expect(await isRetried(curl(75, 'x'), [{ exitCode: [75] }])).toBe(true)
    expect(await isRetried(curl(75, 'x'), [{ exitCode: [1] }])).toBe(false)
    expect(await isRetried(curl(1, 'a\ndeadlock detected\nb'), [{ pattern: 'deadlock' }])).toBe(true)
    expect(await isRetried(curl(9, ''), [{ pattern: 'exit status 9$' }])).toBe(true)
  })

  test.each([
    ['ENOENT', 127],
    ['EACCES', 126],
  ])('find a program that cannot be run (%s) only where they list it', async (code, exitCode) => {
    const spawnError = Object.assign(new Error(`spawn x ${code}`), { code })
    const error = failureOfCommand(end({ exitCode: null, spawnError }), 'x')
    expect(await isRetried(error, [])).toBe(false)
    expect(await isRetried(error, ['network'])).toBe(false)
    expect(await isRetried(error, [{ exitCode: [exitCode] }])).toBe(true)
    expect(await isRetried(error, [{ pattern: code }])).toBe(true)
  })

  test.each(['EAGAIN', 'ENOMEM', 'EMFILE'])('find a lack of %s as every failure', async (code) => {
    const spawnError = Object.assign(new Error(`spawn x ${code}`), { code })
    const error = failureOfCommand(end({ exitCode: null, spawnError }), 'x')
    expect(await isRetried(error, [])).toBe(true)
  })

  test('find what was said far before the end', async () => {
    const stderrTail = `HTTP 503\n${'  at some frame\n'.repeat(300)}`
    expect(await isRetried(failureOfCommand(end({ stderrTail }), ''), ['5xx'])).toBe(true)
  })

  test('do not look at the command itself', async () => {
    const error = failureOfCommand(end({ exitCode: 1, stderrTail: 'no' }), 'timeout 5 curl http://503.example')
    for (const word of ['network', 'timeout', '5xx', 'rate_limit'] as const) {
      expect(await isRetried(error, [word])).toBe(false)
    }
  })
})
