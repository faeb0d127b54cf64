/** Steps that run programs: shell text, argv, the Claude Code program; and the shells they are run by. */
import { chmodSync, existsSync, readdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import type { Command } from '../../packages/workflow/src/process/command.js'
import type { Action, ClaudeAction } from '../../packages/workflow/src/plan/plan.js'
import { performAction } from '../../packages/workflow/src/steps/perform.js'
import { findProgram } from '../../packages/workflow/src/steps/program.js'
import { contextIn, directory, ExitError, file, runPlainly, tools } from './step-fixture.js'

const shell = (command: string): Action => ({ kind: 'shell', command })
const run = (...argv: string[]): Action => ({ kind: 'run', argv })
const claude = (prompt: string, changes: Partial<ClaudeAction> = {}): Action => ({
  kind: 'claude',
  prompt,
  program: null,
  args: [],
  ...changes,
})

/** Tells what it was given. */
const STAND_IN = `#!/bin/sh
printf '%s\\n' "$@"
if [ "$#" -lt 2 ] || [ "\${2#--}" != "$2" ]; then echo "stdin: $(cat)"; fi
`

it('shell text sees values, its own variables, and the rest of the environment', async () => {
  const dir = directory()
  const context = contextIn(
    dir,
    { item: { name: '$(touch x) "q" *' } },
    { env: { ...contextIn(dir).env, REGION: 'eu' } },
  )
  const text = 'mine=1\nprintf "%s|" ${item.name} "${item.name}" \'${item.name}\' "$mine" "${REGION}" ${UNSET:-none}'
  const { output, exitCode } = await performAction(shell(text), context, tools())
  const name = '$(touch x) "q" *'
  expect([output, exitCode]).toEqual([`${[name, name, name, '1', 'eu', 'none'].join('|')}|`, 0])
  expect(readdirSync(dir)).toEqual([])
  expect(context.logged.stdout).toBe(output)
})

it('shell text stops at the first failure, within a pipe too, and at a variable that is not set', async () => {
  for (const text of ['false; echo on', 'false | cat; echo on', 'echo $NOT_SET; echo on']) {
    const context = contextIn(directory())
    await expect(performAction(shell(text), context, tools()), text).rejects.toBeInstanceOf(ExitError)
    expect(context.logged.stdout, text).not.toContain('on')
  }
})

it('without bash, shell text is run by sh', async () => {
  const dir = directory()
  symlinkSync(findProgram('sh', contextIn(dir).env, dir)!, path.join(dir, 'sh'))
  const context = contextIn(dir, { who: "it's" }, { env: { PATH: dir } })
  expect((await performAction(shell("printf '%s' hello-${who}"), context, tools())).output).toBe("hello-it's")
  await expect(performAction(shell('false; echo on'), context, tools())).rejects.toBeInstanceOf(ExitError)
})

it('a name of the document that has no value is said to be missing, not left to the shell', async () => {
  const all = tools({ isKnown: (name) => name === 'items' })
  const running = performAction(shell('echo ${items}'), contextIn(directory(), { item: 1 }), all)
  await expect(running).rejects.toThrow(/`\$\{items\}`: there is no `items`; did you mean `item`\?/)
})

it('text where a value would be executed is refused before anything runs', async () => {
  const dir = directory()
  const context = contextIn(dir, { n: 'a[$(touch x)]' })
  const error: unknown = await performAction(shell('touch y; echo $((${n} + 1))'), context, tools()).catch(
    (thrown) => thrown,
  )
  expect(error).toMatchObject({ name: 'TextError', offset: 17, retryable: false })
  expect(existsSync(path.join(dir, 'y'))).toBe(false)
})

it.each([
  ['a NUL', 'a\0b', /`\$\{v\}` holds a NUL/],
  ['half a character', 'a\ud800b', /`\$\{v\}` is not valid Unicode/],
  ['more than the system passes on', 'x'.repeat(200_000), /`\$\{v\}` has 200000 bytes.*write_file/],
])('a value that is %s is refused rather than changed', async (_, v, message) => {
  for (const action of [shell('echo ${v}'), run('echo', '${v}')]) {
    const error: unknown = await performAction(action, contextIn(directory(), { v }), tools()).catch((thrown) => thrown)
    const said = (error as Error).message.replace('argument 1 of `run`', '`${v}`')
    expect(said).toMatch(message)
    expect(error).toMatchObject({ retryable: false })
  }
})

it('argv is passed as it is, without a shell', async () => {
  const context = contextIn(directory(), { a: '$(touch x); *', list: [1, 'b'], none: null })
  const { output } = await performAction(
    run('printf', '%s|', '${a}', '-${list}', '${none}', '$HOME', '$${a}'),
    context,
    tools(),
  )
  expect(output).toBe('$(touch x); *|-[1,"b"]||$HOME|${a}|')
})

it('a program that is not there is named, and not tried again', async () => {
  const dir = directory()
  for (const name of ['no-such-program', './gone.sh', '']) {
    const error: unknown = await performAction(run(name), contextIn(dir), tools()).catch((thrown) => thrown)
    expect(error, name).toMatchObject({ code: 'missing_program', exitCode: 127, retryable: 'if_listed' })
    expect((error as Error).message).toContain(`no program \`${name}\``)
  }
})

it('a file that cannot be run is not called missing, also where PATH leads to it', async () => {
  const dir = directory()
  file(dir, 'plain.sh', '#!/bin/sh\n')
  const context = contextIn(dir, {}, { env: { PATH: dir } })
  for (const [name, why] of [
    ['./plain.sh', 'no permission'],
    ['plain.sh', 'no permission'],
    [dir, 'it is a directory'],
  ] as const) {
    const error: unknown = await performAction(run(name), context, tools()).catch((thrown) => thrown)
    expect(error, name).toMatchObject({ code: 'not_executable', exitCode: 126, retryable: 'if_listed' })
    expect((error as Error).message).toContain(`\`${name}\` cannot be run: ${why}`)
  }
  chmodSync(path.join(dir, 'plain.sh'), 0o755)
  expect(await performAction(run('./plain.sh'), contextIn(dir), tools())).toEqual({ output: '', exitCode: 0 })
})

it('a program that fails throws what the runner makes of it', async () => {
  const error: unknown = await performAction(
    run('sh', '-c', 'echo bad >&2; exit 75'),
    contextIn(directory()),
    tools(),
  ).catch((thrown) => thrown)
  expect(error).toMatchObject({ exitCode: 75, message: 'sh: exit code 75: bad\n' })
})

it('a program that was aborted fails with the reason; one that ended well before it does not', async () => {
  const controller = new AbortController()
  const reason = new Error('time is up')
  const context = contextIn(directory(), {}, { signal: controller.signal, log: () => controller.abort(reason) })
  await expect(performAction(shell('echo in; sleep 60'), context, tools()).catch((thrown) => thrown)).resolves.toBe(
    reason,
  )

  const late = new AbortController()
  const runCommand = async (command: Command): ReturnType<typeof runPlainly> => {
    const end = await runPlainly({ ...command, signal: new AbortController().signal })
    late.abort()
    return end
  }
  const done = contextIn(directory(), {}, { signal: late.signal })
  expect((await performAction(shell('echo done'), done, tools({ runCommand }))).output).toBe('done\n')
})

it('more output than may be captured is refused, and none of it is where nothing is captured', async () => {
  const command = shell('printf 123456')
  const small = contextIn(directory(), {}, { captureBytes: 5 })
  await expect(performAction(command, small, tools())).rejects.toThrow(/longer than the 5 bytes.*write it to a file/)
  expect((await performAction(command, contextIn(directory(), {}, { captureBytes: 6 }), tools())).output).toBe('123456')
  expect((await performAction(command, contextIn(directory(), {}, { captureBytes: 0 }), tools())).output).toBe('')
})

it('a prompt is given to the program in print mode, before its other arguments', async () => {
  const dir = directory()
  file(dir, 'claude', STAND_IN, 0o755)
  const context = contextIn(dir, { pr: 7 }, { env: { PATH: `${dir}:${process.env['PATH']}` } })
  const action = claude('/review ${pr}\nnow', { args: ['--model', 'm-${pr}', '--allowedTools', 'Read'] })
  expect((await performAction(action, context, tools())).output).toBe(
    '-p\n/review 7\nnow\n--model\nm-7\n--allowedTools\nRead\n',
  )
})

it('a prompt that is long, or looks like an option, goes by stdin', async () => {
  const dir = directory()
  const program = file(dir, 'stand-in', STAND_IN, 0o755)
  for (const prompt of ['--help is what I need', 'é'.repeat(60_000)]) {
    const action = claude(prompt, { program, args: ['--verbose'] })
    expect((await performAction(action, contextIn(dir), tools())).output).toBe(`-p\n--verbose\nstdin: ${prompt}\n`)
  }
})

it('the program for prompts is the document’s, else that of REPRISE_CLAUDE, else claude', async () => {
  const dir = directory()
  for (const name of ['one', 'two', 'claude']) file(dir, name, `#!/bin/sh\necho ${name}\n`, 0o755)
  const PATH = `${dir}:${process.env['PATH']}`
  const outputOf = async (program: string | null, env: Record<string, string>): Promise<unknown> =>
    (await performAction(claude('hi', { program }), contextIn(dir, {}, { env: { PATH, ...env } }), tools())).output
  expect(await outputOf('./one', { REPRISE_CLAUDE: 'two' })).toBe('one\n')
  expect(await outputOf(null, { REPRISE_CLAUDE: 'two' })).toBe('two\n')
  expect(await outputOf(null, { REPRISE_CLAUDE: '' })).toBe('claude\n')
})

it('without the program for prompts the error says how to get or to name one', async () => {
  const context = contextIn(directory(), {}, { env: { PATH: '' } })
  const error: unknown = await performAction(claude('hi'), context, tools()).catch((thrown) => thrown)
  expect(error).toMatchObject({ code: 'missing_program', exitCode: 127, retryable: 'if_listed' })
  expect((error as Error).message).toMatch(/no program `claude` in PATH: install Claude Code, or set REPRISE_CLAUDE/)
  const empty = performAction(claude(' ${none}', { program: 'true' }), contextIn(directory(), { none: null }), tools())
  await expect(empty).rejects.toThrow(/prompt of `claude` is empty/)
})
