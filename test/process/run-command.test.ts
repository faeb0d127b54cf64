/** What programs are given and what is known of them afterwards. Real processes. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { has, hasProc, isRoot, itWhere, run, shell, temporaryDirectory } from './rig.js'

let place: ReturnType<typeof temporaryDirectory>
beforeAll(() => void (place = temporaryDirectory()))
afterAll(() => place.remove())

describe('a program', () => {
  it('ends with its exit code, and what it said is there', async () => {
    const end = await shell('echo out; echo err >&2; exit 3')
    expect(end).toMatchObject({ exitCode: 3, signal: null, spawnError: null, stdout: 'out\n', stdoutExceeded: false })
    expect([end.stdoutTail, end.stderrTail]).toEqual(['out\n', 'err\n'])
    expect(end.durationMs).toBeGreaterThan(0)
  })

  it('ends with the signal that ended it', async () => {
    expect(await shell('kill -SEGV $$')).toMatchObject({ exitCode: null, signal: 'SIGSEGV' })
  })

  it('has the environment it was given, the tag, and nothing of ours', async () => {
    const { stdout } = await run(['env'], { env: { PATH: process.env['PATH'] ?? '', A: 'b c' }, tag: 'a/b/1' })
    const names = stdout
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0])
    expect(stdout).toContain('A=b c\n')
    expect(stdout).toContain('REPRISE_TAG=a/b/1\n')
    expect(names.filter((name) => !/^(_|A|PATH|PWD|SHLVL|REPRISE_TAG|REPRISE_PARENT)$/.test(name ?? ''))).toEqual([])
  })

  it('runs where it is told to', async () => {
    expect((await run(['pwd', '-P'], { cwd: '/' })).stdout).toBe('/\n')
  })

  it('leads a group and a session of its own', async () => {
    const { stdout } = await shell('echo $$; ps -o pgid= -p $$')
    const [pid, group] = stdout.trim().split(/\s+/)
    expect(group).toBe(pid)
  })

  itWhere(hasProc, '/proc', 'has no open files of ours', async () => {
    const links = 'for f in /proc/self/fd/*; do case ${f##*/} in [012]) ;; *) readlink $f ;; esac; done; true'
    // What this process was itself started with goes on.
    const bare = execFileSync('sh', ['-c', links]).toString()
    expect((await shell(links)).stdout.replaceAll(/\d+/g, '')).toBe(bare.replaceAll(/\d+/g, ''))
  })
})

describe('the input', () => {
  it('is empty unless it is given', async () => {
    expect(await run(['cat'])).toMatchObject({ exitCode: 0, stdout: '' })
  })

  it('is given whole, and ends', async () => {
    const stdin = 'ü'.repeat(200_000)
    expect((await run(['wc', '-c'], { stdin })).stdout.trim()).toBe('400000')
    expect((await run(['cat'], { stdin: '' })).exitCode).toBe(0)
  })

  it('may be left unread', async () => {
    expect(await shell('exit 0', { stdin: 'x'.repeat(5_000_000) })).toMatchObject({ exitCode: 0, spawnError: null })
    expect(await shell('exec <&-; sleep 0.1; exit 4', { stdin: 'x'.repeat(5_000_000) })).toMatchObject({ exitCode: 4 })
  })
})

describe('what is kept', () => {
  it('is bounded, and it is said when there was more', async () => {
    const exact = await shell('printf 12345678', { keepStdoutBytes: 8 })
    expect([exact.stdout, exact.stdoutExceeded]).toEqual(['12345678', false])
    const more = await shell('printf 123456789', { keepStdoutBytes: 8 })
    expect([more.stdout, more.stdoutExceeded, more.stdoutTail]).toEqual(['12345678', true, '123456789'])
  })

  it('is the last 64 KiB of each stream, in whole characters', async () => {
    const { stderrTail } = await run(['node', '-e', `process.stderr.write('é'.repeat(100000) + 'x\\n')`])
    expect(stderrTail).toBe(`${'é'.repeat(32_767)}x\n`)
  })

  it('has replacements for bytes that are no text', async () => {
    expect((await shell(`printf 'a\\377b'`)).stdout).toBe('a\uFFFDb')
  })
})

describe('who hears the output', () => {
  it('hears everything, in order', async () => {
    let heard = ''
    const onOutput = (stream: string, bytes: Uint8Array): void =>
      void (heard += stream === 'stdout' ? Buffer.from(bytes) : '')
    await run(['seq', '1', '50000'], { onOutput })
    expect(heard).toBe(`${Array.from({ length: 50_000 }, (_, index) => index + 1).join('\n')}\n`)
  })

  it('slows the program down, and is waited for at the end', async () => {
    let heard = 0
    let open = 0
    let most = 0
    const onOutput = async (_: string, bytes: Uint8Array): Promise<void> => {
      most = Math.max(most, ++open)
      await new Promise((resolve) => setTimeout(resolve, 5))
      heard += bytes.length
      open--
    }
    const end = await shell('head -c 1000000 /dev/zero', { onOutput, keepStdoutBytes: 0 })
    expect([end.exitCode, heard, most, open]).toEqual([0, 1_000_000, 1, 0])
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('disk full')
      },
    ],
    ['rejects', () => Promise.reject(new Error('disk full'))],
  ])('and %s ends the program, and the error comes out', async (_, onOutput) => {
    await expect(shell('trap "" PIPE; while :; do echo x; sleep 0.01; done', { onOutput })).rejects.toThrow('disk full')
  })
})

describe('what cannot be started', () => {
  const said = async (argv: string[], change = {}): Promise<unknown> => {
    const { exitCode, signal, spawnError } = await run(argv, change)
    expect([exitCode, signal]).toEqual([null, null])
    return [(spawnError as NodeJS.ErrnoException).code, spawnError?.message]
  }

  it('is a program that does not exist', async () => {
    expect(await said(['no-such-thing'])).toEqual(['ENOENT', 'no-such-thing: no such program in PATH'])
    expect(await said(['./no-such-thing'])).toEqual(['ENOENT', './no-such-thing: no such program'])
  })

  it('is told apart from a directory that does not exist', async () => {
    const cwd = path.join(place.path, 'missing')
    expect(await said(['true'], { cwd })).toEqual(['ENOENT', `the working directory ${cwd} does not exist`])
    const file = path.join(place.path, 'file')
    writeFileSync(file, '')
    expect(await said(['true'], { cwd: file })).toEqual([
      expect.any(String),
      `the working directory ${file} is no directory`,
    ])
  })

  it('is a file that is no program', async () => {
    const file = path.join(place.path, 'plain')
    writeFileSync(file, 'x')
    expect(await said([file])).toEqual(['EACCES', expect.stringContaining(`${file}: no permission to run it`)])
    expect(await said([place.path])).toEqual(['EACCES', expect.stringContaining(place.path)])
  })

  itWhere(!isRoot, 'a user who is not root', 'is a program in a directory that may not be entered', async () => {
    const cwd = path.join(place.path, 'closed')
    mkdirSync(cwd)
    chmodSync(cwd, 0)
    expect(await said(['true'], { cwd })).toEqual(['EACCES', expect.stringContaining('cannot be entered')])
  })

  it('is a program that is nowhere, though one of the places may not be looked into', async () => {
    const file = path.join(place.path, 'no-directory')
    writeFileSync(file, '')
    expect(await said(['no-such-thing'], { env: { PATH: `${file}:/usr/bin` } })).toEqual([
      'ENOENT',
      'no-such-thing: no such program in PATH',
    ])
    const plain = path.join(place.path, 'plain-program')
    writeFileSync(plain, '')
    expect(await said(['plain-program'], { env: { PATH: place.path } })).toEqual([
      'EACCES',
      expect.stringContaining('no permission to run it'),
    ])
  })

  it('is a value that is too large; what just fits is started', async () => {
    expect(await said(['true', 'x'.repeat(131_072)])).toEqual(['E2BIG', expect.stringContaining('argument 1 of true')])
    const { stdout } = await run(['sh', '-c', 'printf %s "$1" | wc -c', 'sh', 'x'.repeat(131_071)])
    expect(stdout.trim()).toBe('131071')
  })

  it('is too much together; what just fits is started', async () => {
    const env = (size: number): Record<string, string> => ({
      PATH: process.env['PATH'] ?? '',
      ...Object.fromEntries(Array.from({ length: size }, (_, index) => [`V${index}`, 'x'.repeat(100_000)])),
    })
    expect(await said(['true'], { env: env(70) })).toEqual(['E2BIG', expect.stringContaining('together')])
    // Whatever the limit of this machine: the most that is not refused here is not refused by the kernel either.
    let size = 70
    let end = await run(['true'], { env: env(size) })
    while (end.spawnError !== null && size > 0) end = await run(['true'], { env: env(--size) })
    expect([end.exitCode, size > 0]).toEqual([0, true])
  })

  it('is what was called off before', async () => {
    const end = await run(['true'], { signal: AbortSignal.abort() })
    expect(end.spawnError?.message).toMatch(/called off/)
  })
})

itWhere(has('bash'), 'bash', 'a part of a shell that nobody waits for has a moment to end', async () => {
  const file = path.join(place.path, 'copy')
  const end = await run(['bash', '-c', `echo hello | tee >(sleep 0.03; cat > ${file}; echo done)`])
  expect([end.exitCode, end.stdout]).toEqual([0, 'hello\ndone\n'])
})
