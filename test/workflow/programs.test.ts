/** Workflows from a program, as the package's page shows them: load, run, stop, resume. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import {
  InputError,
  loadWorkflow,
  type Plan,
  resumeWorkflow,
  runWorkflow,
  viewEvents,
  viewRuns,
} from '@reprise/workflow'
import { OptionsError } from 'reprise'
import { openDurable, openLedger } from 'reprise/durable'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let directory = ''
let durable = ''
let stateDirectory = ''
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'reprise-programs-'))
  stateDirectory = path.join(directory, '.reprise')
  durable = `sqlite:${path.join(stateDirectory, 'ledger.db')}`
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const load = (text: string): Promise<Plan> => loadWorkflow(text, { file: path.join(directory, 'flow.yaml') })
const linesOf = (name: string): string[] => {
  const file = path.join(directory, name)
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}

/** The second step goes on once there is a file `open`. */
const GATED = `
name: gated
steps:
  - { name: first, shell: echo first >> done.txt }
  - { name: second, shell: 'until test -e open; do sleep 0.05; done; echo second >> done.txt' }
`

async function interrupted(plan: Plan): Promise<string> {
  const stop = new AbortController()
  let runId = ''
  const end = await runWorkflow(plan, {
    durable,
    stateDirectory,
    grace: '100ms',
    signal: stop.signal,
    onEvent: (event) => {
      runId = event.run
      if (event.type === 'attempt_started' && event.step === 'second') stop.abort()
    },
  })
  expect(end.state).toBe('interrupted')
  return runId
}

describe('two workflows over the durable tasks of one program', () => {
  const until = async (isSo: () => boolean): Promise<void> => {
    while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 10))
  }

  it("run at once with the program's own tasks, as one owner, and stop each for itself", async () => {
    const address = `sqlite:${path.join(directory, 'app.db')}`
    const shared = await openDurable(address)
    const double = shared.task('double', 3, (n: number) => 2 * n)
    const plan = await load(GATED)
    const stop = new AbortController()
    const begun = new Set<string>()
    const options = (runId: string): Parameters<typeof runWorkflow>[1] => ({
      durable: shared,
      stateDirectory,
      runId,
      grace: '100ms',
      ...(runId === 'one' && { signal: stop.signal }),
      onEvent: (event) => {
        expect(event.run).toBe(runId)
        if (event.type === 'attempt_started' && event.step === 'second') begun.add(runId)
      },
    })
    const ends = [runWorkflow(plan, options('one')), runWorkflow(plan, options('two'))]
    await until(() => begun.size === 2)
    const ledger = await openLedger(address)
    expect(await ledger.owners()).toHaveLength(1)
    await ledger.close()
    stop.abort()
    expect(await ends[0]).toMatchObject({ state: 'interrupted' })
    expect(await double.run(21, { id: 'a' })).toBe(42)
    writeFileSync(path.join(directory, 'open'), '')
    expect(await ends[1]).toMatchObject({ state: 'succeeded' })
    expect(await resumeWorkflow(plan, 'one', { durable: shared, stateDirectory })).toMatchObject({ state: 'succeeded' })
    expect(await double.run(4, { id: 'b' })).toBe(8)
    await shared.close()
  })

  it('share a budget of one name and equal settings, and are refused one with other settings', async () => {
    const shared = await openDurable(`sqlite:${path.join(directory, 'app.db')}`)
    const withPlaces = (places: number): Promise<Plan> =>
      load(`
budgets: { api: { type: concurrency, max: ${places} } }
steps: [{ id: work, shell: 'echo x >> begun; until test -e open; do sleep 0.02; done', retry: { attempts: 2, budget: api } }]
`)
    const begin = async (runId: string, places: number): ReturnType<typeof runWorkflow> =>
      runWorkflow(await withPlaces(places), { durable: shared, stateDirectory, runId })
    const first = begin('one', 1)
    await until(() => linesOf('begun').length === 1)
    await expect(begin('other', 2)).rejects.toThrow('Budget api is in use in this process with other settings')
    const again = resumeWorkflow(await withPlaces(1), 'one', { durable: shared, stateDirectory })
    await expect(again).rejects.toThrow('Run one is being executed by process')
    expect((await shared.runs.list()).map(({ id }) => id)).toEqual(['one'])
    writeFileSync(path.join(directory, 'open'), '')
    expect(await first).toMatchObject({ state: 'succeeded' })
    expect(await begin('later', 2)).toMatchObject({ state: 'succeeded' })
    await shared.close()
  })
})

describe('a workflow of a program', () => {
  it.each([
    ['is missing', {}, /needs the secret API_TOKEN in the environment/],
    ['is empty', { API_TOKEN: '' }, /needs the secret API_TOKEN in the environment/],
    ['is too short', { API_TOKEN: 'abc' }, /API_TOKEN is too short to be masked/],
  ])('is not run when its secret %s', async (_, env, message) => {
    const plan = await load('name: x\nsecrets: [API_TOKEN]\nsteps: [{shell: echo ran >> done.txt}]\n')
    const refused: unknown = await runWorkflow(plan, { durable, stateDirectory, env }).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(InputError)
    expect((refused as InputError).message).toMatch(message)
    expect(linesOf('done.txt')).toEqual([])
    expect(existsSync(stateDirectory)).toBe(false)
  })

  it('is refused with every problem, each at its line and column', async () => {
    const error: unknown = await load('name: x\nsteps:\n  - { nam: a, shell: echo }\n  - { shell: 7 }\n').catch(
      (reason: unknown) => reason,
    )
    expect(error).toBeInstanceOf(InputError)
    const { problems } = error as InputError
    expect(problems.map(({ line, column }) => [line, column])).toEqual([
      [3, 7],
      [4, 14],
    ])
    const file = path.join(directory, 'flow.yaml')
    expect(problems[0]).toMatchObject({ file, suggestion: expect.any(String) })
    const { message } = error as InputError
    expect(message).toContain(`${file}:3:7: steps[0].nam: unknown field (did you mean \`name\`?); ${file}:4:14: `)
    await expect(loadWorkflow('steps:\n  - shel: x\n')).rejects.toThrow(
      'line 2:5: steps[0].shel: unknown field (did you mean `shell`?)',
    )
  })

  it('keeps its logs where the command line looks for those of the store', async () => {
    const plan = await load('name: x\nsteps: [{ name: say, shell: echo hello }]\n')
    const address = `sqlite:${path.join(directory, 'app.db')}`
    const shared = await openDurable(address)
    const logs: (string | null)[] = []
    const output = { onEnd: (_: unknown, log: string | null): number => logs.push(log) }
    await runWorkflow(plan, { durable: shared, runId: 'one', output })
    await shared.close()
    await runWorkflow(plan, { durable: address, runId: 'two', output })
    const logOf = (run: string): string =>
      path.join(directory, '.reprise', 'sqlite-app.db', 'runs', run, 'say', '1.1.1.log')
    expect(logs).toEqual([logOf('one'), logOf('two')])
  })

  it('is refused with the argument that is wrong', async () => {
    const plan = await load('name: x\nsteps: [{ shell: echo ran >> done.txt }]\n')
    const options = { durable, stateDirectory }
    await expect(loadWorkflow(7 as never)).rejects.toThrow('The first argument of loadWorkflow must be the text')
    await expect(runWorkflow({} as never, options)).rejects.toThrow('The first argument of runWorkflow must be a plan')
    await expect(resumeWorkflow(undefined as never, 'r', options)).rejects.toThrow('The first argument of resumeWork')
    await expect(resumeWorkflow(plan, options as never, options)).rejects.toThrow('The second argument of resumeWork')
    await expect(runWorkflow(plan, { ...options, output: {} as never })).rejects.toThrow(
      'output.onEnd: is missing: say a function',
    )
    await expect(runWorkflow(plan, { ...options, params: { wo: 1 } })).rejects.toThrow(
      'Invalid options of runWorkflow: params.wo: the workflow x has no such parameter',
    )
    expect(linesOf('done.txt')).toEqual([])
    const ledger = await openLedger('memory:')
    expect(await viewRuns(ledger)).toEqual([])
    for (const selection of [{ state: 'sucess' }, { stat: 'failed' }, { limit: -1 }, 5])
      await expect(viewRuns(ledger, selection as never)).rejects.toBeInstanceOf(OptionsError)
    await ledger.close()
  })

  it('runs in the directory of its file, with its parameters, and is told and listed', async () => {
    const plan = await load(
      'name: greet\nparams: { who: null }\nsteps:\n  - { name: say, shell: "echo ${who} > said.txt" }\n',
    )
    const told: string[] = []
    const onEvent = ({ type }: { readonly type: string }): void => void told.push(type)
    const end = await runWorkflow(plan, { durable, stateDirectory, params: { who: 'Ada' }, runId: 'greet-1', onEvent })
    expect(end).toMatchObject({ state: 'succeeded', failedStep: null })
    expect(linesOf('said.txt')).toEqual(['Ada'])
    expect(told).toEqual(['run_started', 'attempt_started', 'step_finished', 'run_finished'])
    const ledger = await openLedger(durable)
    expect(await viewRuns(ledger, {})).toMatchObject([{ id: 'greet-1', state: 'succeeded', name: 'greet' }])
    expect((await viewEvents(ledger, 'greet-1')).map(({ type }) => type)).toContain('attempt_started')
    await ledger.close()
  })

  it('shares the store of open durable tasks, which stays open', async () => {
    const tasks = await openDurable('memory:')
    const double = tasks.task('double', { attempts: 1 }, (value: number) => value * 2)
    const plan = await load('name: shared\nsteps:\n  - { name: one, shell: "true" }\n')
    const run = { durable: tasks, stateDirectory, runId: 'shared-1' }
    expect(await runWorkflow(plan, run)).toMatchObject({ state: 'succeeded' })
    // The run is in the same store: it has ended there, and there is nothing left to resume.
    expect(await resumeWorkflow(plan, 'shared-1', { durable: tasks, stateDirectory })).toMatchObject({
      state: 'succeeded',
    })
    expect(await double.run(21)).toBe(42)
    await tasks.close()
  })

  it('kills a command that does not end within the grace', async () => {
    const slowly = 'trap "sleep 3; echo late > late.txt; exit" TERM; touch started; while :; do sleep 0.05; done'
    const plan = await load(`name: slow\nsteps:\n  - { name: slow, shell: '${slowly}' }\n`)
    const stop = new AbortController()
    const ended = runWorkflow(plan, { durable, stateDirectory, grace: 0, signal: stop.signal })
    await expect.poll(() => existsSync(path.join(directory, 'started')), { timeout: 20_000 }).toBe(true)
    stop.abort()
    expect(await ended).toMatchObject({ state: 'interrupted' })
    expect(linesOf('late.txt')).toEqual([])
    const wrong = runWorkflow(plan, { durable, stateDirectory, grace: 'soon' })
    await expect(wrong).rejects.toThrow(OptionsError)
  })

  it('continues where it was stopped', async () => {
    const plan = await load(GATED)
    const runId = await interrupted(plan)
    writeFileSync(path.join(directory, 'open'), '')
    expect(await resumeWorkflow(plan, runId, { durable, stateDirectory })).toMatchObject({ state: 'succeeded' })
    expect(linesOf('done.txt')).toEqual(['first', 'second'])
  })

  it('is not resumed with another document, unless the change is accepted', async () => {
    const runId = await interrupted(await load(GATED))
    const changed = await load(GATED.replace('echo second', 'echo other'))
    writeFileSync(path.join(directory, 'open'), '')
    await expect(resumeWorkflow(changed, runId, { durable, stateDirectory })).rejects.toMatchObject({
      code: 'resume_refused',
      runId,
      refusals: [{ kind: 'definition_changed' }],
    })
    expect(linesOf('done.txt')).toEqual(['first'])
    const end = await resumeWorkflow(changed, runId, { durable, stateDirectory, acceptChanges: true })
    expect(end.state).toBe('succeeded')
    expect(linesOf('done.txt')).toEqual(['first', 'other'])
  })

  it('is not resumed where there is no such run, and no store is made', async () => {
    const plan = await load(GATED)
    await expect(resumeWorkflow(plan, 'none', { durable, stateDirectory })).rejects.toMatchObject({ code: 'ledger' })
    expect(existsSync(stateDirectory)).toBe(false)
    await interrupted(plan)
    await expect(resumeWorkflow(plan, 'none', { durable, stateDirectory })).rejects.toMatchObject({
      code: 'task_refused',
      kind: 'not_found',
    })
  })

  it('is refused before anything is made when an option or a parameter is wrong', async () => {
    const plan = await load('name: greet\nparams: { who: null }\nsteps:\n  - { shell: "echo ${who}" }\n')
    const refused = async (options: object): Promise<string> => {
      const error: unknown = await runWorkflow(plan, options as never).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(OptionsError)
      return (error as Error).message
    }
    expect(await refused({ stateDirectory, params: { who: 'Ada' } })).toContain('durable: is missing')
    expect(await refused({ durable, stateDirectory, onevent: () => undefined })).toContain('onEvent')
    expect(await refused({ durable, stateDirectory, params: { whom: 'Ada' } })).toMatch(
      /params\.who: is missing: .*; params\.whom: the workflow greet has no such parameter \(did you mean `who`\?\)/,
    )
    expect(existsSync(stateDirectory)).toBe(false)
  })
})
