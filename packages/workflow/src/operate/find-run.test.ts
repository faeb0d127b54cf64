import { type Ledger, MemoryLedger, type RunRecord } from 'reprise/durable'
import { describe, expect, test } from 'vitest'
import { findEndedRun, findRun, interruptedRun, isConducted, LATEST, LISTED_RUNS } from './find-run.js'
import { OperationError } from './operation-error.js'

const RUN: RunRecord = {
  detail: { cwd: '/', documentDir: '/', params: {} },
  ...{ id: '', kind: 'workflow', name: 'nightly', status: 'succeeded', owner: null, fence: 1, resumes: 0 },
  ...{ fingerprint: '', correlationId: '', createdAtMs: 0, updatedAtMs: 1, endedAtMs: 1 },
}

const DOCUMENT = { name: 'nightly', steps: [{ id: 'fetch', name: 'Fetch it', shell: 'true' }] }

/** Started in this order. */
async function ledgerWith(...runs: readonly (Partial<RunRecord> & { readonly id: string })[]): Promise<Ledger> {
  const ledger = new MemoryLedger()
  for (const [index, given] of runs.entries()) {
    const run = { ...RUN, correlationId: given.id, createdAtMs: index, ...given }
    await ledger.transact({ tasks: [], runs: [run.id] }, () => ({
      runs: [{ run, definition: DOCUMENT }],
      result: undefined,
    }))
  }
  return ledger
}

async function refusal(act: Promise<unknown>): Promise<Pick<OperationError, 'kind' | 'problem' | 'message'>> {
  const error = await act.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof OperationError)) throw new Error('nothing was refused', { cause: error })
  const { kind, problem, message } = error
  return { kind, problem, message }
}

describe('a run is found', () => {
  test('by its id, by the name of its workflow, by the beginning of its id, and as the latest', async () => {
    const ledger = await ledgerWith({ id: 'nightly-1' }, { id: 'nightly-2' }, { id: 'weekly-1', name: 'weekly' })
    const found = async (named: string): Promise<string> => (await findRun(ledger, named)).id
    expect(await found('nightly-1')).toBe('nightly-1')
    expect(await found('nightly')).toBe('nightly-2')
    expect(await found('wee')).toBe('weekly-1')
    expect(await found(LATEST)).toBe('weekly-1')
  })

  test('as the only one that was interrupted', async () => {
    const ledger = await ledgerWith({ id: 'a' }, { id: 'b', status: 'interrupted', endedAtMs: null })
    expect((await interruptedRun(ledger)).id).toBe('b')
  })
})

describe('a run is not found', () => {
  test('if there is none, or none by that name: the nearest name is told', async () => {
    expect(await refusal(findRun(await ledgerWith(), LATEST))).toMatchObject({
      kind: 'not_found',
      problem: { code: 'no_runs' },
    })
    expect(await refusal(findRun(await ledgerWith({ id: 'n-1' }), 'nightli'))).toEqual({
      kind: 'not_found',
      problem: { code: 'unknown_run', near: 'nightly' },
      message: 'There is no run nightli. Did you mean nightly?',
    })
  })

  test('if the name is that of a step of the last run, and the caller asks for that', async () => {
    const ledger = await ledgerWith({ id: 'n-1' })
    for (const named of ['fetch', 'Fetch it'])
      expect((await refusal(findRun(ledger, named, { orStep: true }))).problem).toEqual({
        code: 'step_of_last_run',
        step: 'fetch',
      })
    expect((await refusal(findRun(ledger, 'fetch'))).problem.code).toBe('unknown_run')
  })

  test('if several ids begin so: the newest are listed, and one more if there are more', async () => {
    const ids = Array.from({ length: LISTED_RUNS + 5 }, (_, index) => ({ id: `n-${index}` }))
    const { kind, problem, message } = await refusal(findRun(await ledgerWith(...ids), 'n-'))
    expect([kind, message]).toEqual([
      'not_possible',
      'The ids of more than 10 runs begin with n-: give more of the id.',
    ])
    expect(problem).toMatchObject({ code: 'ambiguous_run', found: { length: LISTED_RUNS + 1 } })
  })

  test('if none or several were interrupted and none is named', async () => {
    expect((await refusal(interruptedRun(await ledgerWith({ id: 'a' })))).problem.code).toBe('no_interrupted_run')
    const left = { status: 'interrupted', endedAtMs: null } as const
    const ledger = await ledgerWith({ id: 'a', ...left }, { id: 'b', ...left })
    const { problem } = await refusal(interruptedRun(ledger))
    expect(problem).toMatchObject({ code: 'several_interrupted_runs', runs: expect.arrayContaining(['a', 'b']) })
  })
})

test('a run that has not ended is not found for removal, and without a living process it is not conducted', async () => {
  const ledger = await ledgerWith({ id: 'a' }, { id: 'b', status: 'running', owner: 'gone', endedAtMs: null })
  expect(await findEndedRun(ledger, 'a')).toBe('a')
  expect((await refusal(findEndedRun(ledger, 'b'))).problem).toEqual({ code: 'run_not_ended', run: 'b' })
  expect(await isConducted(ledger, { owner: 'gone' })).toBe(false)
  expect(await isConducted(ledger, { owner: null })).toBe(false)
})
