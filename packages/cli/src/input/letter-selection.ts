/** Which dead letters are meant, from the flags of `reprise dlq`. Imports the workflow package and the errors of a wrong use. */
import {
  letterCondition,
  type LetterCursor,
  letterGroups,
  type LetterSelection,
  OperationError,
  scopesNamed,
  scopesOfRun,
} from '@reprise/workflow/internal'
import type { Ledger, Scope } from 'reprise/durable'
import { nearest } from 'reprise/internal'
import { UsageError } from '../failures.js'

export type WhichOptions = {
  readonly run?: string
  readonly name?: string
  readonly group?: string
  readonly where?: string
  readonly state?: 'open' | 'closed' | 'all'
}

/** `of`: what was typed without a flag. */
export async function selectionOf(
  ledger: Ledger,
  of: string | undefined,
  { run, name, group, where, state = 'open' }: WhichOptions,
): Promise<LetterSelection> {
  const given = [of, run, name].filter((one) => one !== undefined)
  if (given.length > 1) throw new UsageError('a run or a name was given twice', 'give one of RUN, --run and --name')
  const named = of ?? run
  const scopes = name !== undefined ? await scopesOfName(ledger, name) : named && (await scopesNamed(ledger, named))
  const base: LetterSelection = {
    ...(scopes && { scopes }),
    ...(state !== 'all' && { isOpen: state === 'open' }),
    ...(where !== undefined && { where: await letterCondition(where) }),
  }
  return group === undefined ? base : { ...base, signature: await signatureOf(ledger, base, group) }
}

/** Of all runs of a workflow, and of the tasks of the name. */
async function scopesOfName(ledger: Ledger, name: string): Promise<Scope[]> {
  const runs = (await ledger.runs({ name })).filter(({ id }) => !id.includes('/'))
  const scopes = await Promise.all(runs.map(({ id }) => scopesOfRun(ledger, id)))
  return [...scopes.flat(), { scopeKind: 'task', scope: name }]
}

/** The whole signature, or the beginning of one. */
async function signatureOf(ledger: Ledger, base: LetterSelection, group: string): Promise<string> {
  const all = (await letterGroups(ledger, base)).map(({ signature }) => signature)
  if (all.includes(group)) return group
  const fitting = all.filter((signature) => signature.startsWith(group))
  const [only] = fitting
  if (only !== undefined && fitting.length === 1) return only
  if (only !== undefined) {
    const problem = { code: 'ambiguous_letter', letters: fitting.slice(0, 10) } as const
    throw new OperationError('not_possible', problem, `${fitting.length} groups begin with ${group}: give more of it.`)
  }
  const near = nearest(group, all)
  const message = `No dead letter is of the group ${group}.${near === undefined ? '' : ` Did you mean ${near}?`}`
  throw new OperationError('not_found', { code: 'unknown_group' }, message)
}

/** Where a list continues, as one word. */
export function cursorText({ atMs, scopeKind, scope, id, generation }: LetterCursor): string {
  return Buffer.from(JSON.stringify([atMs, scopeKind, scope, id, generation])).toString('base64url')
}

export function cursorOf(text: string): LetterCursor {
  try {
    const [atMs, scopeKind, scope, id, generation] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[]
    const isRight = typeof atMs === 'number' && typeof generation === 'number' && typeof scope === 'string'
    if (isRight && typeof id === 'string' && (scopeKind === 'run' || scopeKind === 'task'))
      return { atMs, scopeKind, scope, id, generation }
  } catch {
    // Said below.
  }
  throw new UsageError(`--after ${text.slice(0, 100)} is no place in a list`, 'take it from the list before')
}
