/**
 * Finds a dead letter that somebody has named: `RUN/MAP KEY`, `RUN/MAP/ITEM`, `RUN/STEP`, `NAME/ID` of a task of a program,
 * or an item's id or key alone. The beginning of a name will do if nothing else begins so. Imports the library, runs and
 * its own directory.
 */
import type { DeadLetter, Ledger, Scope } from 'reprise/durable'
import { nearest } from 'reprise/internal'
import { findRun } from '../find-run.js'
import { OperationError } from '../operation-error.js'
import { foundLetters, type FoundLetter, scopesOfRun } from './letter-pages.js'
import { isUndecided, keyOfItem, placeOfScope } from './letter-view.js'

/** Letters that an error names. */
const LISTED = 10
/** Names that are kept to suggest a near one. */
const MOST_NAMES = 10_000

/** What was typed, as scopes and the rest of the name. */
interface Asked {
  /** Undefined: letters of the whole store. */
  readonly scopes: readonly Scope[] | undefined
  readonly rest: string
}

/** `place`: `RUN`, `RUN/MAP` or a name, where the key is a word of its own; `within`: only letters of this run or name. */
export async function findLetter(
  ledger: Ledger,
  named: string,
  key: string | undefined,
  within?: string,
): Promise<FoundLetter> {
  const matches = new Matches()
  for (const { scopes, rest } of await readings(ledger, named, key, within)) {
    await matches.gather(ledger, scopes, rest)
    if (matches.isExact) break
  }
  return matches.only(key === undefined ? named : `${named} ${key}`)
}

/** What the words may mean, the most likely first. */
async function readings(
  ledger: Ledger,
  named: string,
  key: string | undefined,
  within: string | undefined,
): Promise<Asked[]> {
  if (key !== undefined) return [{ scopes: await scopesNamed(ledger, named), rest: key }]
  const asked: Asked[] = []
  const [first = '', second = '', ...others] = named.split('/')
  if (second !== '') {
    const run = await findRun(ledger, first).catch(() => undefined)
    if (run !== undefined && others.length > 0)
      asked.push({ scopes: mapScopes(run.id, second, await scopesOfRun(ledger, run.id)), rest: others.join('/') })
    if (run !== undefined)
      asked.push({ scopes: await scopesOfRun(ledger, run.id), rest: [second, ...others].join('/') })
    asked.push({ scopes: [{ scopeKind: 'task', scope: first }], rest: [second, ...others].join('/') })
  }
  asked.push({ scopes: within === undefined ? undefined : await scopesNamed(ledger, within), rest: named })
  return asked
}

/** The scopes of a map of a run, of a run, or of the tasks of a program. */
export async function scopesNamed(ledger: Ledger, named: string): Promise<Scope[]> {
  const task: Scope = { scopeKind: 'task', scope: named }
  const [first = '', map] = named.split('/')
  try {
    const run = await findRun(ledger, first)
    const scopes = await scopesOfRun(ledger, run.id)
    if (map === undefined) return scopes
    const ofMap = mapScopes(run.id, map, scopes)
    if (ofMap.length > 0) return ofMap
    throw unknownLetter(named, nearest(map, mapsIn(scopes)))
  } catch (error) {
    // A name of tasks is no run: their letters say that it is right.
    if ((await ledger.deadLetters({ ...task, limit: 1 })).length > 0) return [task]
    throw error
  }
}

function mapScopes(run: string, map: string, scopes: readonly Scope[]): Scope[] {
  return scopes.filter(({ scope }) => scope === `${run}/${map}` || scope.startsWith(`${run}/${map}/`))
}

function mapsIn(scopes: readonly Scope[]): string[] {
  return scopes.flatMap((scope) => placeOfScope(scope).map ?? [])
}

/** A task may have a letter for each generation: the last one stands for it. */
class Matches {
  private readonly exact = new Map<string, FoundLetter>()
  private readonly beginning = new Map<string, FoundLetter>()
  private readonly names = new Set<string>()

  get isExact(): boolean {
    return this.exact.size > 0
  }

  /** An id is looked up; for a key, or the beginning of a name, all letters of the scopes are looked through. */
  async gather(ledger: Ledger, scopes: readonly Scope[] | undefined, rest: string): Promise<void> {
    if (scopes?.length === 0) return
    for (const scope of scopes ?? [{}])
      for (const letter of rest === '' ? [] : await ledger.deadLetters({ ...scope, id: rest }))
        this.look({ letter, task: await ledger.get(letter) }, rest)
    if (this.isExact) return
    for await (const page of foundLetters(ledger, scopes === undefined ? {} : { scopes }))
      for (const found of page) this.look(found, rest)
  }

  private look(found: FoundLetter, rest: string): void {
    const { letter, task } = found
    const name = `${letter.scope}/${letter.id}`
    const isItem = placeOfScope(letter).kind === 'item' && task !== undefined
    const names = [letter.id, ...(isItem ? [keyOfItem(task)] : [])]
    if (this.names.size < MOST_NAMES) for (const one of names) this.names.add(one)
    if (names.includes(rest)) this.exact.set(name, found)
    else if (rest !== '' && names.some((one) => one.startsWith(rest))) this.beginning.set(name, found)
  }

  only(named: string): FoundLetter {
    const found = this.isExact ? this.exact : this.beginning
    const [first, ...others] = found.values()
    if (first === undefined) throw unknownLetter(named, nearest(named.split(/[ /]/).at(-1) ?? named, [...this.names]))
    if (others.length === 0) return first
    const letters = [...found.keys()]
    const message = `${letters.length} dead letters fit ${named}: give more of the name.`
    throw new OperationError('not_possible', { code: 'ambiguous_letter', letters: letters.slice(0, LISTED) }, message)
  }
}

function unknownLetter(named: string, near: string | undefined): OperationError {
  const message = `There is no dead letter ${named}.${near === undefined ? '' : ` Did you mean ${near}?`}`
  return new OperationError('not_found', { code: 'unknown_letter', near }, message)
}

/** The letter, if nothing has closed it. */
export function expectOpen({ letter }: FoundLetter): DeadLetter {
  if (letter.closed === undefined) return letter
  const name = `${letter.scope}/${letter.id}`
  const message = `Dead letter ${name} is closed (${letter.closed.by}).`
  throw new OperationError('not_possible', { code: 'letter_not_open', letter: name }, message)
}

/** That the letter waits for a decision, and is not of a step, which is decided with a resume. */
export function expectUndecided(found: FoundLetter): void {
  const letter = expectOpen(found)
  if (!isUndecided(letter)) {
    const name = `${letter.scope}/${letter.id}`
    const message = `Dead letter ${name} is not undecided: its last attempt failed, and there is nothing to decide.`
    throw new OperationError('not_possible', { code: 'letter_not_undecided', letter: name }, message)
  }
  if (placeOfScope(letter).kind === 'step') throw undecidedError(letter)
}

/** That nothing has to be decided about the letter first. */
export function expectDecided(letter: DeadLetter): DeadLetter {
  if (isUndecided(letter)) throw undecidedError(letter)
  return letter
}

function undecidedError(letter: DeadLetter): OperationError {
  const { kind, run } = placeOfScope(letter)
  const name = `${letter.scope}/${letter.id}`
  const why = 'its last attempt was interrupted, and it is not known whether it took effect'
  if (kind !== 'step' || run === null)
    return new OperationError(
      'not_possible',
      { code: 'letter_undecided', letter: name },
      `${name} is undecided: ${why}.`,
    )
  const problem = { code: 'undecided_step', run, step: letter.id } as const
  return new OperationError('not_possible', problem, `Step ${letter.id} of run ${run} is undecided: ${why}.`)
}
