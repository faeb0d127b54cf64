/** Steps that run a function of a module, in real threads. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { ScriptAction } from '../../packages/workflow/src/plan/plan.js'
import { ScriptPool } from '../../packages/workflow/src/steps/script-pool.js'
import { runScript } from '../../packages/workflow/src/steps/script.js'
import { contextIn, directory, file, onEnd, tools } from './step-fixture.js'

const script = (changes: Partial<ScriptAction> = {}): ScriptAction => ({
  kind: 'script',
  module: 's.mjs',
  export: 'default',
  with: null,
  ...changes,
})

it('hands the function its input, and gives back what it returns', async () => {
  const dir = directory()
  file(
    dir,
    's.mjs',
    `export default async ({ with: given, values, env, attempt, idempotencyKey, runId, stepId, cwd, signal }) =>
      ({ given, values, region: env.REGION, own: process.env.REGION, tag: process.env.REPRISE_TAG, attempt, idempotencyKey, runId, stepId, cwd,
         aborted: signal.aborted })`,
  )
  const context = contextIn(dir, { items: [1, 2], name: 'x' }, { env: { REGION: 'eu' }, attempt: 3 })
  const action = script({ with: { list: '${items}', text: 'for ${name}', deep: [{ n: '${items[1]}' }] } })
  const { output, exitCode } = await runScript(action, context, tools())
  expect(exitCode).toBe(0)
  expect(output).toEqual({
    given: { list: [1, 2], text: 'for x', deep: [{ n: 2 }] },
    values: { items: [1, 2], name: 'x' },
    region: 'eu',
    own: 'eu',
    tag: 'tag-1',
    attempt: 3,
    idempotencyKey: 'key-1',
    runId: 'run-1',
    stepId: 'step',
    cwd: dir,
    aborted: false,
  })
})

it('a function that returns nothing gives null, and another export can be named', async () => {
  const dir = directory()
  file(dir, 's.mjs', 'export default () => {}\nexport const two = () => 2')
  const all = tools()
  expect((await runScript(script(), contextIn(dir), all)).output).toBe(null)
  expect((await runScript(script({ export: 'two' }), contextIn(dir), all)).output).toBe(2)
})

it('CommonJS modules are modules too', async () => {
  const dir = directory()
  file(dir, 's.cjs', 'module.exports = ({ with: given }) => given + 1')
  expect((await runScript(script({ module: 's.cjs', with: 1 }), contextIn(dir), tools())).output).toBe(2)
})

it('everything it says is in the log when it has ended, in order', async () => {
  const dir = directory()
  file(
    dir,
    's.mjs',
    `export default ({ log }) => {
      console.log('one'); log('two', { a: 1 }); process.stdout.write('three\\n'); console.error('oh')
      for (let i = 0; i < 2000; i++) console.log('line ' + i)
    }`,
  )
  const context = contextIn(dir)
  await runScript(script(), context, tools())
  expect(context.logged.stdout.startsWith('one\ntwo { a: 1 }\nthree\nline 0\n')).toBe(true)
  expect(context.logged.stdout.endsWith('line 1999\n')).toBe(true)
  expect(context.logged.stderr).toBe('oh\n')
})

it('the values of the run are a copy of its own, for every call', async () => {
  const dir = directory()
  file(
    dir,
    's.mjs',
    `let calls = 0
    export default (given) => {
      const seen = JSON.stringify(given.values)
      given.values.list.push(++calls)
      return { seen, isSame: given.values === given.values, keys: Object.keys(given), now: given.values.list }
    }`,
  )
  const all = tools()
  const values = { list: [0], steps: { first: { exit_code: 0 } } }
  for (const calls of [1, 2]) {
    const { output } = await runScript(script(), contextIn(dir, values), all)
    const { keys, ...rest } = output as { keys: string[] }
    expect(rest).toEqual({ seen: JSON.stringify(values), isSame: true, now: [0, calls] })
    expect(keys).toContain('values')
  }
  expect(values.list).toEqual([0])
})

it('values can be put in the place of those of the run, and looked at after a wait', async () => {
  const dir = directory()
  file(
    dir,
    's.mjs',
    `export default async (given) => {
      console.log('said before')
      await new Promise((resolve) => setTimeout(resolve, 5))
      const { a } = given.values
      given.values = { a: 2 }
      return [a, given.values.a]
    }`,
  )
  const context = contextIn(dir, { a: 1 })
  expect((await runScript(script(), context, tools())).output).toEqual([1, 2])
  expect(context.logged.stdout).toBe('said before\n')
})

it('a log that cannot be written fails the step with its own error', async () => {
  const dir = directory()
  file(dir, 's.mjs', `export default () => console.log('x')`)
  const full = new Error('no space left')
  const context = contextIn(dir, {}, { log: () => Promise.reject(full) })
  await expect(runScript(script(), context, tools())).rejects.toBe(full)
})

it('an error keeps its name, message, code, status and cause', async () => {
  const dir = directory()
  file(
    dir,
    's.mjs',
    `class Odd extends Error { name = 'Odd' }
    export default () => { throw Object.assign(new Odd('so odd', { cause: Object.assign(new Error('inner'),
      { code: 'ECONNRESET' }) }), { code: 'E_ODD', status: 503, headers: { 'retry-after': '7' }, fn() {} }) }`,
  )
  const context = contextIn(dir)
  const error = await runScript(script(), context, tools()).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(Error)
  expect(error).toMatchObject({ name: 'Odd', message: 'so odd', code: 'E_ODD', status: 503 })
  expect(error).toMatchObject({ headers: { 'retry-after': '7' }, cause: { message: 'inner', code: 'ECONNRESET' } })
  expect(context.logged.stderr).toMatch(/so odd\n\s+at /)
})

it.each([
  ['a string', `throw 'plain'`, /a script threw plain/],
  ['nothing', `throw undefined`, /a script threw undefined/],
  ['an error in a timer', `await new Promise(() => setTimeout(() => { throw new RangeError('late') }))`, /late/],
  [
    'a rejection that nobody handles',
    `void Promise.reject(new Error('lost')); await new Promise(() => setTimeout(() => {}, 1e6))`,
    /lost/,
  ],
  ['the end of its thread', `process.exit(3)`, /process\.exit\(3\)/],
  ['the end of its thread as a success', `process.exit(0)`, /process\.exit\(0\)/],
])('%s is a failure of the step, and the next step runs', async (_, body, message) => {
  const dir = directory()
  file(dir, 's.mjs', `export default async ({ with: bad }) => { if (bad) { ${body} } return 'fine' }`)
  const all = tools()
  await expect(runScript(script({ with: true }), contextIn(dir), all)).rejects.toThrow(message)
  expect((await runScript(script({ with: false }), contextIn(dir), all)).output).toBe('fine')
})

it.each([
  ['undefined in a list', '[1, undefined]', /the result\[1\] is undefined/],
  ['a function', '({ a: { b() {} } })', /the result\.a\.b is a function/],
  ['a date', '({ at: new Date() })', /the result\.at is an object of class Date/],
  ['not a number', 'NaN', /the result is NaN/],
  ['a big integer', '1n', /the result is a bigint/],
  ['a circle', '(() => { const a = {}; a.a = a; return a })()', /nested deeper than 60 levels, or within itself/],
])('a result that is %s is refused with its place', async (_, value, message) => {
  const dir = directory()
  file(dir, 's.mjs', `export default () => ${value}`)
  await expect(runScript(script(), contextIn(dir), tools())).rejects.toThrow(message)
})

it('a result longer than may be captured is refused', async () => {
  const dir = directory()
  file(dir, 's.mjs', `export default () => 'x'.repeat(100)`)
  await expect(runScript(script(), contextIn(dir, {}, { captureBytes: 50 }), tools())).rejects.toThrow(/50 bytes/)
})

it.each([
  ['is missing', 'gone.mjs', '', /no module `gone\.mjs` in/],
  [
    'has no such function',
    's.mjs',
    'export const other = () => 1\nexport default 5',
    /no function `default`.*functions are: other/,
  ],
  ['cannot be parsed', 's.mjs', 'export default (', /cannot load `s\.mjs`: Unexpected/],
  [
    'imports what is not there',
    's.mjs',
    `import './no.mjs'\nexport default () => 1`,
    /cannot load `s\.mjs`: Cannot find module/,
  ],
  ['is of another language', 's.py', 'print()', /cannot load `s\.py`: Unknown file extension.*this Node runs/],
])('a module that %s is no matter for another attempt', async (_, module, text, message) => {
  const dir = directory()
  if (text !== '') file(dir, module, text)
  const error: unknown = await runScript(script({ module }), contextIn(dir), tools()).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({
    name: 'SetupError',
    retryable: false,
    message: expect.stringMatching(message) as string,
  })
})

it('an error while the module is loaded may pass: it is thrown as it is, and the module is loaded anew', async () => {
  const dir = directory()
  file(
    dir,
    's.mjs',
    `import { existsSync } from 'node:fs'
    if (!existsSync(${JSON.stringify(`${dir}/there`)})) throw new Error('not yet')
    export default () => 'loaded'`,
  )
  const all = tools()
  const error: unknown = await runScript(script(), contextIn(dir), all).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ name: 'Error', message: 'not yet' })
  file(dir, 'there', '')
  expect((await runScript(script(), contextIn(dir), all)).output).toBe('loaded')
})

it('a module that was changed is loaded anew', async () => {
  const dir = directory()
  const all = tools()
  file(dir, 's.mjs', 'export default () => 1')
  expect((await runScript(script(), contextIn(dir), all)).output).toBe(1)
  file(dir, 's.mjs', 'export default () => "another"')
  expect((await runScript(script(), contextIn(dir), all)).output).toBe('another')
})

it('the thread is kept for the next call of the module, but not with something still going on in it', async () => {
  const dir = directory()
  file(
    dir,
    's.mjs',
    `let calls = 0
    export default ({ with: leaves }) => { if (leaves) setInterval(() => console.log('late'), 1); return ++calls }`,
  )
  const all = tools()
  const call = async (leaves: boolean): Promise<unknown> =>
    (await runScript(script({ with: leaves }), contextIn(dir), all)).output
  expect([await call(false), await call(false), await call(true), await call(false)]).toEqual([1, 2, 3, 1])
})

it('variables of the environment are those of the call, not of the one before', async () => {
  const dir = directory()
  file(dir, 's.mjs', `export default () => [process.env.A ?? null, process.env.B ?? null]`)
  const all = tools()
  expect((await runScript(script(), contextIn(dir, {}, { env: { A: '1' } }), all)).output).toEqual(['1', null])
  expect((await runScript(script(), contextIn(dir, {}, { env: { B: '2' } }), all)).output).toEqual([null, '2'])
})

it('an endless loop ends with the abort, after the grace', async () => {
  const dir = directory()
  file(dir, 's.mjs', `export default () => { console.log('in'); for (;;); }`)
  const controller = new AbortController()
  const reason = new Error('too late')
  const running = runScript(script(), contextIn(dir, {}, { signal: controller.signal, graceMs: 20 }), tools())
  setTimeout(() => controller.abort(reason), 100)
  await expect(running).rejects.toBe(reason)
})

it('a script that heeds the signal can clean up within the grace', async () => {
  const dir = directory()
  file(
    dir,
    's.mjs',
    `export default async ({ signal }) => {
      console.log('ready')
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      console.log('cleaned up')
    }`,
  )
  const controller = new AbortController()
  const logged: string[] = []
  const context = contextIn(
    dir,
    {},
    {
      signal: controller.signal,
      graceMs: 10_000,
      log: (_, bytes) => {
        logged.push(Buffer.from(bytes).toString())
        if (logged.length === 1) controller.abort(new Error('enough'))
      },
    },
  )
  await expect(runScript(script(), context, tools())).rejects.toThrow('enough')
  expect(logged).toEqual(['ready\n', 'cleaned up\n'])
})

it('a signal that was given before starts nothing', async () => {
  const dir = directory()
  file(dir, 's.mjs', `export default () => console.log('ran')`)
  const context = contextIn(dir, {}, { signal: AbortSignal.abort(new Error('before')) })
  await expect(runScript(script(), context, tools())).rejects.toThrow('before')
  expect(context.logged.stdout).toBe('')
})

it('closing the pool ends what runs', async () => {
  const dir = directory()
  file(
    dir,
    's.mjs',
    `export default () => { console.log('in'); return new Promise(() => setInterval(() => {}, 1000)) }`,
  )
  const scripts = new ScriptPool()
  let started: () => void = () => undefined
  const isIn = new Promise<void>((resolve) => (started = resolve))
  const running = runScript(script(), contextIn(dir, {}, { log: () => started() }), tools({ scripts }))
  const ended = expect(running).rejects.toThrow('the script was ended')
  onEnd(() => scripts.close())
  await isIn
  await scripts.close()
  await ended
})

it('a thread that waits for its next call keeps no process alive', async () => {
  const dir = directory()
  const module = file(dir, 's.mjs', `export default () => 'returned'`)
  const program = fileURLToPath(new URL('./idle-thread.ts', import.meta.url))
  const args = ['--conditions=reprise-source', '--import', 'tsx', program, module]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], timeout: 25_000 })
  let stdout = ''
  child.stdout.on('data', (chunk) => (stdout += String(chunk)))
  const [code] = (await once(child, 'close')) as [number | null]
  expect([code, stdout]).toEqual([0, '"returned"\n'])
})

it('a thousand steps after each other take one thread', async () => {
  const dir = directory()
  file(dir, 's.mjs', `let calls = 0\nexport default () => ++calls`)
  const all = tools()
  let last: unknown
  for (let n = 0; n < 1000; n++) last = (await runScript(script(), contextIn(dir), all)).output
  expect(last).toBe(1000)
})

it('steps at the same time have a thread each', async () => {
  const dir = directory()
  file(
    dir,
    's.mjs',
    `let calls = 0\nexport default async () => { await new Promise((go) => setTimeout(go, 50)); return ++calls }`,
  )
  const all = tools()
  const outputs = await Promise.all([1, 2, 3].map(async () => (await runScript(script(), contextIn(dir), all)).output))
  expect(outputs).toEqual([1, 1, 1])
})
