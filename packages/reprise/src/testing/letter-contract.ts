/** What every ledger must do with dead letters that are closed. Imports the ledger's types and samples. */
import type { Ledger } from '../ledger/ledger.js'
import type { ClosedLetter, DeadLetter } from '../ledger/records.js'
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

  'closes a letter that the same transaction opens': async (ledger) => {
    await ledger.create([newTask()])
    await write(ledger, [letter(1)], [])
    await ledger.transact({ tasks: [KEY] }, () => ({ dead: [letter(2)], closedLetters: [closing(2)], result: null }))
    same(await ledger.deadLetters(), [letter(1), letter(2, closed)])
  },
}
