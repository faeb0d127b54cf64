/** `reprise exec` as a process: what a command reads, and what is handed on of how it ended. */
import { spawn } from 'node:child_process'
import { closeSync, openSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterEach, describe, expect, test } from 'vitest'
import { bin, type Ended, CliFixture, until } from './cli-fixture.js'

let fixture = new CliFixture()
afterEach(() => fixture.remove())

const RETRY = ['--attempts', '2', '--initial-delay', '1ms'] as const

interface Fed {
  readonly ended: Promise<Ended>
  readonly stdin: NodeJS.WritableStream
  readonly kill: (signal: NodeJS.Signals) => void
  /** What it has written so far. */
  readonly written: Readonly<Pick<Ended, 'stdout' | 'stderr'>>
}

/** `exec` with a pipe as its stdin, or with an open file. */
function exec(args: readonly string[], file?: number): Fed {
  const child = spawn(process.execPath, [bin, 'exec', ...args], {
    cwd: fixture.directory,
    stdio: [file ?? 'pipe', 'pipe', 'pipe'],
  })
  const written = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (piece: string) => (written[name] += piece))
  const ended = new Promise<Ended>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal, ...written })),
  )
  const stdin = child.stdin as NodeJS.WritableStream
  stdin?.on('error', () => undefined)
  return { ended, stdin, kill: (signal) => void child.kill(signal), written }
}

function piped(input: string | Uint8Array, ...args: string[]): Promise<Ended> {
  const { ended, stdin } = exec(args)
  stdin.end(input)
  return ended
}

/** Writes `part N` in attempt N, and succeeds in the third. */
const FLAKY = 'echo "part $REPRISE_ATTEMPT"; echo "to stderr" >&2; [ "$REPRISE_ATTEMPT" = 3 ]'
const many = (attempts: number): string[] => ['--attempts', String(attempts), '--initial-delay', '1ms']

describe('the stdout of a command in a pipe', () => {
  test.each([
    ['of the attempt that succeeded', many(4), 'part 3\n', 0],
    ['of the attempt that succeeded, if it is the last', many(3), 'part 3\n', 0],
    ['of the last attempt, if all failed', many(2), 'part 2\n', 1],
    ['of an attempt that is not retried', [...many(4), '--retry-on', 'network'], 'part 1\n', 1],
    ['of the attempt that succeeded, kept or not', ['--durable', 'x1', ...many(4)], 'part 3\n', 0],
  ])('is that %s', async (_, flags, expected, code) => {
    fixture = new CliFixture()
    const ended = await piped('', ...flags, '--', 'sh', '-c', FLAKY)
    expect([ended.stdout, ended.code]).toEqual([expected, code])
    // The attempts before it, in order and before their retry is told.
    const told = [...ended.stderr.matchAll(/part \d|Retrying/g)].map(([text]) => text)
    const before = Number(expected.trim().at(-1)) - 1
    expect(told).toEqual(Array.from({ length: before }, (_ignored, index) => [`part ${index + 1}`, 'Retrying']).flat())
  })

  test('is whole when it is larger than what is held in memory', async () => {
    fixture = new CliFixture()
    const text = 'head -c 3000000 /dev/zero | tr "\\0" "$REPRISE_ATTEMPT"; [ "$REPRISE_ATTEMPT" = 2 ]'
    const { stdout, stderr, code } = await piped('', ...many(3), '--', 'sh', '-c', text)
    expect([code, stdout.length, stdout.replaceAll('2', '')]).toEqual([0, 3e6, ''])
    // Beside the one of "exit code 1" and those that the cause quotes.
    expect(stderr.match(/1/g)?.length).toBeGreaterThanOrEqual(3e6)
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('reprise-stdout-'))).toEqual([])
  })

  test('is passed on as it comes when there is one attempt', async () => {
    fixture = new CliFixture()
    const { ended, stdin, kill, written } = exec(['--attempts', '1', '--', 'sh', '-c', 'echo first; sleep 1000'])
    stdin.end()
    await until(
      () => written.stdout === 'first\n',
      () => 'the first line',
    )
    kill('SIGTERM')
    await ended
  })

  test('is that of an attempt that is interrupted, as far as it came', async () => {
    fixture = new CliFixture()
    const command = 'echo begun; echo ready >&2; sleep 1000'
    const { ended, stdin, kill, written } = exec([...many(3), '--', 'sh', '-c', command])
    stdin.end()
    await until(
      () => written.stderr.includes('ready'),
      () => 'the command',
    )
    expect(written.stdout).toBe('')
    kill('SIGTERM')
    expect(await ended).toMatchObject({ stdout: 'begun\n' })
  })
})

describe('the stdin of a command', () => {
  test('reaches every attempt whole', async () => {
    fixture = new CliFixture()
    const large = 'x'.repeat(3_000_000)
    const { code, stdout, stderr } = await piped(large, ...RETRY, '--', 'sh', '-c', 'wc -c; exit 3')
    expect([code, stdout.trim(), /^\s*(\d+)$/m.exec(stderr)?.[1]]).toEqual([3, '3000000', '3000000'])
  })

  test.each([['1'], ['2']])('is that of a single attempt and of several: --attempts %s', async (attempts) => {
    fixture = new CliFixture()
    expect(await piped('hello\n', '--attempts', attempts, '--', 'cat')).toMatchObject({ code: 0, stdout: 'hello\n' })
  })

  test('can be opened by its name', async () => {
    fixture = new CliFixture()
    expect((await piped('hello\n', '--', 'cat', '/dev/stdin')).stdout).toBe('hello\n')
  })

  test('is read while it comes: the first attempt does not wait for its end', async () => {
    fixture = new CliFixture()
    const { ended, stdin } = exec([...RETRY, '--', 'sh', '-c', 'read line; echo "$line" >> seen; cat'])
    stdin.write('first\n')
    await until(
      () => fixture.count('seen') === 1,
      () => 'the first line to be read',
    )
    stdin.end('rest\n')
    expect(await ended).toMatchObject({ code: 0, stdout: 'rest\n' })
  })

  test.each([
    ['that nobody reads', 'true', 0],
    ['of which little is read', 'head -c 1', 0],
    ['whose reader fails', 'head -c 1 >&2; exit 9', 9],
  ])('%s does not fail the command', async (_, command, code) => {
    fixture = new CliFixture()
    const { ended, stdin } = exec([...RETRY, '--', 'sh', '-c', command])
    stdin.write(Buffer.alloc(2_000_000, 'x'))
    expect((await ended).code).toBe(code)
  })

  test('that never comes is not waited for', async () => {
    fixture = new CliFixture()
    expect((await exec([...RETRY, '--', 'true']).ended).code).toBe(0)
  })

  test('is a file for every attempt from where it stood', async () => {
    fixture = new CliFixture()
    const file = openSync(fixture.path(fixture.write('input', 'a file\n')), 'r')
    const { code, stdout, stderr } = await exec([...RETRY, '--', 'sh', '-c', 'cat; exit 4'], file).ended
    closeSync(file)
    expect({ code, stdout }).toEqual({ code: 4, stdout: 'a file\n' })
    expect(stderr).toMatch(/^a file$/m)
  })

  test('is empty where it is /dev/null or closed', async () => {
    fixture = new CliFixture()
    expect(await fixture.reprise('exec', '--', 'cat')).toMatchObject({ code: 0, stdout: '' })
    const closed = fixture.startProgram('sh', ['-c', `"$0" "$1" exec -- cat <&-`, process.execPath, bin])
    expect(await closed.ended).toMatchObject({ code: 0, stdout: '' })
  })

  test('leaves no file behind, however it ends', async () => {
    const left = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('reprise-stdin-'))
    const before = left()
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      fixture.remove()
      fixture = new CliFixture()
      const { ended, stdin, kill } = exec([...RETRY, '--', 'sh', '-c', 'cat >> seen; sleep 60'])
      stdin.write('x\n')
      await until(
        () => fixture.count('seen') === 1,
        () => 'the command to read',
      )
      kill(signal)
      await ended
      expect(left()).toEqual(before)
    }
  })

  test('that cannot be kept for a second attempt is a failure of ours, and the command is ended', async () => {
    fixture = new CliFixture()
    const args = [bin, 'exec', ...RETRY, '--', 'sh', '-c', 'cat > got; echo whole > done']
    const command = `printf x | TMPDIR=/nowhere "$0" "$@"`
    const { ended } = fixture.startProgram('sh', ['-c', command, process.execPath, ...args])
    const { code, stderr } = await ended
    expect(code).toBe(74)
    expect(stderr).toMatch(/^reprise: error: stdin cannot be kept in \/nowhere for a second attempt/)
    expect(fixture.has('done')).toBe(false)
  })

  test('is refused with --durable unless there is none', async () => {
    fixture = new CliFixture()
    const refused = await piped('x', '--durable', 'a', '--', 'cat')
    expect(refused.code).toBe(2)
    expect(refused.stderr).toMatch(/^reprise: error: --durable keeps no stdin/)
    expect(fixture.has('.reprise')).toBe(false)
    expect(await piped('', '--durable', 'a', '--', 'echo', 'done')).toMatchObject({ code: 0, stdout: 'done\n' })
  })
})

describe('the exit code of exec', () => {
  test.each<[string, string[], number]>([
    ['of the command', ['sh', '-c', 'exit 42'], 42],
    ['of a signal', ['sh', '-c', 'kill -SEGV $$'], 139],
    ['of a program that is not there', ['no-such-program'], 127],
    ['of a file that is no program', ['./plain'], 126],
  ])('is that %s, kept or not', async (_, command, code) => {
    fixture = new CliFixture()
    fixture.write('plain', 'text')
    expect((await fixture.reprise('exec', ...RETRY, '--', ...command)).code).toBe(code)
    expect((await fixture.reprise('exec', '--durable', 'a', ...RETRY, '--', ...command)).code).toBe(code)
  })

  test('is explained: a file that cannot be run is not called missing, kept or not', async () => {
    fixture = new CliFixture()
    fixture.write('plain', 'text')
    for (const flags of [[], ['--durable', 'a']]) {
      const { stderr } = await fixture.reprise('exec', ...flags, '--', './plain')
      expect(stderr).toContain('no permission to run it (is it a program? chmod +x)')
    }
  })

  test.each([
    ['one attempt', ['--attempts', '1', '--attempt-timeout', '50ms']],
    ['everything', ['--timeout', '50ms']],
  ])('is 124 where a limit of %s ended the command', async (_, flags) => {
    fixture = new CliFixture()
    expect((await fixture.reprise('exec', ...flags, '--', 'sleep', '60')).code).toBe(124)
    expect((await fixture.reprise('exec', '--durable', 'a', ...flags, '--', 'sleep', '60')).code).toBe(124)
  })

  test('is that of the last attempt where time does not allow another', async () => {
    fixture = new CliFixture()
    const limits = ['--initial-delay', '1h', '--max-delay', '1h', '--timeout', '1m']
    expect((await fixture.reprise('exec', ...limits, '--', 'sh', '-c', 'exit 9')).code).toBe(9)
  })

  test.each([
    [['exec', '--attempts', '0', '--', 'true']],
    [['exec', '--nope', '--', 'true']],
    [['exec']],
    [['--json', 'exec', '--attempts', '0', '--', 'true']],
  ])('%o: a failure of ours is 2 and signed', async (args) => {
    fixture = new CliFixture()
    const { code, stderr } = await fixture.reprise(...args)
    expect(code).toBe(2)
    expect(stderr).toMatch(/^reprise: /)
  })

  test('of a refusal is 4 and signed, and what the command says is not', async () => {
    fixture = new CliFixture()
    const command = ['exec', '--durable', 'a', '--attempts', '1', '--', 'sh', '-c', 'exit 4']
    const own = await fixture.reprise(...command)
    expect(own.code).toBe(4)
    expect(own.stderr).not.toMatch(/^reprise: /m)
    const { code, stderr } = await fixture.reprise(...command)
    expect(code).toBe(4)
    expect(stderr).toMatch(/^reprise: refused: /)
  })
})
