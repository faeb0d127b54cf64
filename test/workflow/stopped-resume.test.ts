/**
 * A resume that is stopped before it comes to what a killed process left: that is recorded as interrupted all the same, so
 * that nothing of a run that nobody conducts is recorded as running. Processes are models of themselves on one ledger.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Durable, TaskRecord } from 'reprise/durable'
import { loadWorkflow, resumeWorkflow, type RunEvent, runWorkflow } from '@reprise/workflow'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { until, ProcessModel } from '../durable/process-model.js'

const RUN = 'r1'

let directory: string
let model: ProcessModel
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'reprise-stopped-'))
  model = new ProcessModel()
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const options = (durable: Durable) => ({ durable, stateDirectory: path.join(directory, 'state') })
const tasks = (scope = RUN): Promise<readonly TaskRecord[]> => model.ledger.list({ scopeKind: 'run', scope })
const running = async (): Promise<string[]> => (await model.ledger.list({ statuses: ['running'] })).map(({ id }) => id)

/** Runs the workflow in a process that is killed once `isMoment` says so of the tasks that run. */
async function killed(
  document: object,
  isMoment: (running: string[]) => boolean,
): Promise<Awaited<ReturnType<typeof loadWorkflow>>> {
  const plan = await loadWorkflow(JSON.stringify(document), { file: path.join(directory, 'workflow.yaml') })
  const host = await model.open()
  void runWorkflow(plan, { ...options(host.durable), runId: RUN })
  await until(async () => isMoment(await running()), 'the moment of the kill')
  await host.kill()
  return plan
}

/** A resume that is asked to stop before it begins. */
async function stoppedResume(plan: Awaited<ReturnType<typeof loadWorkflow>>) {
  const { durable } = await model.open()
  const events: RunEvent[] = []
  const onEvent = (event: RunEvent): void => void events.push(event)
  const end = await resumeWorkflow(plan, RUN, { ...options(durable), onEvent, signal: AbortSignal.abort() })
  await durable.close()
  expect(await model.ledger.run(RUN)).toMatchObject({ status: 'interrupted', owner: null })
  return { end, events }
}

test.each([
  ['step', { steps: [{ id: 'work', shell: 'sleep 60' }] }, 'work'],
  [
    'fallback',
    {
      steps: [
        { id: 'work', shell: 'false', retry: { attempts: 1, on_failure: { fallback: { command: 'sleep 60' } } } },
      ],
    },
    'work.fallback',
  ],
])('an attempt of a %s that a killed process left is interrupted by the stop', async (_kind, document, id) => {
  const plan = await killed(document, (ids) => ids.includes(id))
  const { end, events } = await stoppedResume(plan)
  expect(end).toMatchObject({ state: 'interrupted', undecided: [] })
  expect(events.filter(({ type }) => type === 'attempt_started')).toEqual([])
  const task = (await tasks()).find((one) => one.id === id)
  expect(task).toMatchObject({ status: 'waiting', owner: null, progress: { interruptions: 1 } })
})

test('a step that must not run twice is named as undecided by the stop', async () => {
  const plan = await killed(
    { steps: [{ id: 'charge', shell: 'sleep 60', on_interrupt: 'fail' }] },
    (ids) => ids.length > 0,
  )
  const { end } = await stoppedResume(plan)
  expect(end).toMatchObject({ state: 'interrupted', undecided: ['charge'] })
  expect((await tasks()).map(({ id, status }) => [id, status])).toEqual([['charge', 'undecided']])
})

test('items of a map that a killed process left are interrupted by the stop, and run at the next resume', async () => {
  const document = {
    mode: 'mapreduce',
    map: { input: [1, 2, 3], max_parallel: 2, agent_template: [{ shell: 'test -e go || sleep 60' }] },
  }
  const plan = await killed(document, (ids) => ids.length === 2)
  await stoppedResume(plan)
  expect(await model.ledger.run(`${RUN}/map`)).toMatchObject({ status: 'interrupted', owner: null })
  const items = await tasks(`${RUN}/map`)
  expect(items.map(({ status, owner }) => [status, owner])).toEqual(items.map(() => ['waiting', null]))
  expect(items.map(({ progress }) => progress.interruptions).filter((count) => count === 1)).toHaveLength(2)
  writeFileSync(path.join(directory, 'go'), '')
  const { durable } = await model.open()
  expect(await resumeWorkflow(plan, RUN, options(durable))).toMatchObject({ state: 'succeeded' })
  await durable.close()
})
