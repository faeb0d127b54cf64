import { MemoryLedger } from 'reprise/durable'
import { expect, test } from 'vitest'
import { withVerbs } from '../../../../test/durable/with-verbs.js'
import { sampleRun } from '../../../reprise/src/testing/run-contract.js'
import { runReader } from './run-reader.js'

test('the plan of a run is made once, and anew for a changed document or another run', async () => {
  const ledger = new MemoryLedger()
  const keep = (changes: Parameters<typeof sampleRun>[0], step: string): Promise<unknown> => {
    const run = sampleRun({ detail: { file: null, cwd: '/', documentDir: '/', params: {} }, ...changes })
    const definition = { steps: [{ id: step, run: ['true'] }] }
    return ledger.transact({ tasks: [], runs: [run.id] }, () => ({ runs: [{ run, definition }], result: null }))
  }
  let reads = 0
  const counted = withVerbs(ledger, {
    definition: (id) => {
      reads++
      return ledger.definition(id)
    },
  })
  const reader = runReader(counted, 'memory:')
  const stepsOf = async (id: string): Promise<string[]> => {
    const run = await ledger.run(id)
    if (run === undefined) throw new Error(`there is no run ${id}`)
    return (await reader.planOf(run)).phases.map((phase) => phase.id)
  }
  await keep({ id: 'a', fingerprint: 'f1' }, 'first')
  expect([await stepsOf('a'), await stepsOf('a'), reads]).toEqual([['first'], ['first'], 1])
  await keep({ id: 'a', fingerprint: 'f2' }, 'second')
  expect([await stepsOf('a'), await stepsOf('a'), reads]).toEqual([['second'], ['second'], 2])
  await keep({ id: 'b', fingerprint: 'f2' }, 'third')
  expect([await stepsOf('b'), await stepsOf('a'), reads]).toEqual([['third'], ['second'], 4])
})
