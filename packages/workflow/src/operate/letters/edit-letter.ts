/** Changes the data of a dead letter, and closes one without a retry. Imports the library, items, masking and its own directory. */
import type { Json, Ledger } from 'reprise/durable'
import { acknowledgeLetter, type Actor, editInput } from 'reprise/internal'
import { InputDataError } from '../../items/input-data-error.js'
import { expectKeepable, itemLength } from '../../items/weigh-item.js'
import { Masker } from '../../masking/masker.js'
import { OperationError } from '../operation-error.js'
import { recordedPlan } from '../../run/recorded-plan.js'
import { expectDecided, expectOpen } from './find-letter.js'
import type { FoundLetter } from './letter-pages.js'
import { keyOfItem, placeOfScope } from './letter-view.js'

/** Answers with what was there before. Nothing secret is recorded: `env` has the values of the secrets of its workflow. */
export async function editLetter(
  ledger: Ledger,
  found: FoundLetter,
  data: Json,
  actor: Actor,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Json> {
  const letter = expectOpen(found)
  expectLetterData(data, expectEditable(found))
  const masked = await maskedFor(ledger, found, data, env)
  const isItem = placeOfScope(letter).kind === 'item'
  const input = isItem ? { key: keyOfItem(found.task as NonNullable<FoundLetter['task']>), value: masked } : masked
  const before = await editInput(ledger, letter, { ...actor, input })
  return isItem ? (before as unknown as { readonly value: Json }).value : before
}

/** Items and tasks of programs have data; answers with the name of the letter. */
export function expectEditable({ letter, task }: FoundLetter): string {
  const name = `${letter.scope}/${letter.id}`
  const { kind } = placeOfScope(letter)
  if ((kind === 'item' || kind === 'task') && task !== undefined) return name
  const why = kind === 'step' ? 'a step takes its data from the workflow file' : 'it has no data of its own'
  throw new OperationError(
    'not_possible',
    { code: 'no_letter_data', letter: name },
    `${name} cannot be edited: ${why}.`,
  )
}

/** Throws if the data cannot be recorded, or is too large. */
export function expectLetterData(data: Json, name: string): void {
  try {
    expectKeepable(data, name)
    itemLength(data, name)
  } catch (error) {
    if (!(error instanceof InputDataError)) throw error
    throw new OperationError('invalid', { code: 'wrong_input' }, error.message)
  }
}

/** The data with the secrets of its workflow masked; the data of a program's task as it is. */
async function maskedFor(
  ledger: Ledger,
  { letter }: FoundLetter,
  data: Json,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Json> {
  const { run } = placeOfScope(letter)
  const record = run === null ? undefined : await ledger.run(run)
  if (record === undefined) return data
  const { secrets } = recordedPlan(record, (await ledger.definition(record.id)) ?? null)
  return new Masker(Object.fromEntries(secrets.map((secret) => [secret, env[secret] ?? '']))).maskJson(data)
}

/** False if something had closed it before. */
export async function acknowledge(ledger: Ledger, found: FoundLetter, actor: Actor): Promise<boolean> {
  return acknowledgeLetter(ledger, expectDecided(expectOpen(found)), actor)
}
