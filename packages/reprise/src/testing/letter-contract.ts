/** What every ledger must do with dead letters that are closed, and with inputs that are replaced. Imports the ledger's types and samples. */
import type { Ledger } from '../ledger/ledger.js'
import type { ClosedLetter, DeadLetter, InputChange, Json, TaskRecord } from '../ledger/records.js'
import { type Check, same } from './contract-checks.js'
import { newTask } from './sample-task.js'

const KEY = { scopeKind: 'task', scope: 'mail', id: 'a' } as const

const letter = (generation: number, changes: Partial<DeadLetter> = {}): DeadLetter => ({
  ...KEY,
  generation,
  atMs: 5.5,
  signature: 'Error: no luck',
  stopReason: 'attempts_exhausted',
  failure: { name: 'Error', message: 'no luck' },
  ...changes,
})
const closing = (generation: number, atMs = 7.5): ClosedLetter => ({ ...KEY, generation, atMs, by: 'reset' })
const closed = { closed: { atMs: 7.5, by: 'reset' } } as const

const write = (ledger: Ledger, dead: readonly DeadLetter[], closedLetters: readonly ClosedLetter[]): Promise<void> =>
  ledger.transact({ tasks: [KEY] }, () => ({ dead, closedLetters, result: undefined }))

export const LETTER_CASES: Readonly<Record<string, Check>> = {
  'closes the letter of one generation, and keeps it': async (ledger) => {
    await ledger.create([newTask()])
    await write(ledger, [letter(1)], [])
    await write(ledger, [letter(2)], [closing(1)])
    same(await ledger.deadLetters(), [letter(1, closed), letter(2)])
    same(await ledger.deadLetters(KEY), [letter(1, closed), letter(2)])
  },

  'closes no letter twice, and none that is not there': async (ledger) => {
    await ledger.create([newTask()])
    await write(ledger, [], [closing(1)])
    same(await ledger.deadLetters(), [])
    await write(ledger, [letter(1)], [])
    await write(ledger, [], [closing(1)])
    await write(ledger, [], [closing(1, 99)])
    same(await ledger.deadLetters(), [letter(1, closed)])
  },

  'opens the letter of a generation again': async (ledger) => {
    await ledger.create([newTask()])
    await write(ledger, [letter(1, { stopReason: 'interrupted', failure: null })], [])
    await write(ledger, [], [closing(1)])
    await write(ledger, [letter(1, { atMs: 9 })], [])
    same(await ledger.deadLetters(), [letter(1, { atMs: 9 })])
  },

  'removes letters that were closed before a time, at most as many as it may, and no open one': async (ledger) => {
    await ledger.create([newTask()])
    await write(ledger, [letter(1), letter(2), letter(3), letter(4)], [closing(1, 7), closing(2, 8), closing(3, 9)])
    same((await ledger.compact({ lettersBeforeMs: 9, limit: 1 })).deadLetters, 1)
    same((await ledger.compact({ lettersBeforeMs: 9, limit: 10 })).deadLetters, 1)
    same((await ledger.compact({ lettersBeforeMs: 9, limit: 10 })).deadLetters, 0)
    same(
      (await ledger.deadLetters()).map(({ generation }) => generation),
      [3, 4],
    )
    same((await ledger.get(KEY))?.id, 'a')
  },

  'replaces the input of a task, and what a change of the task says of it counts for nothing': async (ledger) => {
    await ledger.create([newTask(), newTask({ id: 'b' })])
    const change = (input: Json, inputs: readonly InputChange[]): Promise<void> =>
      ledger.transact({ tasks: [KEY] }, (view) => ({
        tasks: [{ ...(view.task(KEY) as TaskRecord), fence: 7, input }],
        inputs,
        result: undefined,
      }))
    const before = (await ledger.get(KEY))?.input
    await change({ to: 'nobody' }, [])
    same((await ledger.get(KEY))?.input, before)
    await change(null, [{ ...KEY, input: { to: 'ada', many: [1, 2] } }])
    same((await ledger.get(KEY))?.input, { to: 'ada', many: [1, 2] })
    same((await ledger.get(KEY))?.fence, 7)
    same((await ledger.get({ ...KEY, id: 'b' }))?.input, before)
    await ledger.transact({ tasks: [KEY] }, () => ({ inputs: [{ ...KEY, input: 'alone' }], result: undefined }))
    same((await ledger.get(KEY))?.input, 'alone')
    await ledger.transact({ tasks: [KEY] }, (view) => {
      same(view.task(KEY)?.input, 'alone')
      return { result: undefined }
    })
    same((await ledger.create([newTask()]))[0]?.type, 'existing')
  },

  'closes a letter that the same transaction opens': async (ledger) => {
    await ledger.create([newTask()])
    await write(ledger, [letter(1)], [])
    await ledger.transact({ tasks: [KEY] }, () => ({ dead: [letter(2)], closedLetters: [closing(2)], result: null }))
    same(await ledger.deadLetters(), [letter(1), letter(2, closed)])
  },
}
