/**
 * Dead letters in order of time, page by page, of one scope, a run with its maps, all runs of a workflow, or the whole
 * store; and conditions over them. Imports the library, expressions and the views.
 *
 * Invariant: what is kept is a page for each scope, however many letters there are.
 */
import type { DeadLetter, Json, Ledger, Scope, TaskRecord } from 'reprise/durable'
import type { LetterFilter } from 'reprise/internal'
import { compileExpression, type Expression, isMissingKey } from '../../values/expression.js'
import { scopeOf } from '../../view/run-pages.js'
import { OperationError } from '../operation-error.js'
import { dataOf, type LetterView, letterView } from './letter-view.js'

/** Letters of one query. */
const PAGE = 500
/** Tasks that are read at once for a page. */
const AT_ONCE = 50

/** Which letters: those that fit every field. */
export interface LetterSelection {
  /** Only of these scopes; absent: of the whole store. */
  readonly scopes?: readonly Scope[]
  /** Only letters that are open, or only closed ones. */
  readonly isOpen?: boolean
  /** Only of this kind of failure. */
  readonly signature?: string
  /** Only these, by what names them: `SCOPE/ID`. */
  readonly names?: ReadonlySet<string>
  readonly where?: LetterCondition
  /** Letters that came later are left out. */
  readonly untilMs?: number
  /** Whether the tasks are read too. @default true */
  readonly withTasks?: boolean
  /** Continue after this one. */
  readonly after?: LetterCursor
  /** How many of them are wanted: no more are read at once. @default pages of 500 */
  readonly wanted?: number
}

/** Where a list continues: the letter before. */
export type LetterCursor = Pick<DeadLetter, 'atMs' | 'scopeKind' | 'scope' | 'id' | 'generation'>

/** A letter with the task that it is of; undefined if the task is gone. */
export interface FoundLetter {
  readonly letter: DeadLetter
  readonly task: TaskRecord | undefined
}

/** The scopes of a run: its steps, its maps, and what is done for their failed items. */
export async function scopesOfRun(ledger: Ledger, run: string): Promise<Scope[]> {
  const maps = await ledger.runs({ idPrefix: `${run}/` })
  return [scopeOf(run), ...maps.flatMap(({ id }) => [scopeOf(id), scopeOf(`${id}/on-error`)])]
}

/** With their tasks, in order of time. A condition is asked with the data of the task. */
export async function* foundLetters(ledger: Ledger, selection: LetterSelection): AsyncGenerator<FoundLetter[]> {
  const { names, where, untilMs = Infinity } = selection
  const isRead = where !== undefined || selection.withTasks !== false
  for await (const page of letterPages(ledger, selection)) {
    const inTime = page.filter(({ atMs }) => atMs <= untilMs)
    const named = names === undefined ? inTime : inTime.filter(({ scope, id }) => names.has(`${scope}/${id}`))
    const found: FoundLetter[] = []
    for (let first = 0; first < named.length; first += AT_ONCE) {
      const some = named.slice(first, first + AT_ONCE)
      const tasks = isRead ? await Promise.all(some.map((letter) => ledger.get(letter))) : []
      found.push(...some.map((letter, index) => ({ letter, task: tasks[index] })))
    }
    yield where === undefined ? found : found.filter((one) => where.holdsFor(one))
    if (inTime.length < page.length) return
  }
}

/** In order of time over all scopes. */
async function* letterPages(
  ledger: Ledger,
  { scopes, isOpen, signature, after, where, wanted = PAGE }: LetterSelection,
): AsyncGenerator<readonly DeadLetter[]> {
  // A condition may pass over any number of letters.
  const limit = where === undefined ? Math.max(1, Math.min(PAGE, wanted)) : PAGE
  const filter = { limit, ...(isOpen !== undefined && { isOpen }), ...(signature !== undefined && { signature }) }
  const sources = (scopes ?? [undefined]).map((scope) => pagesOf(ledger, { ...filter, ...scope }, after))
  if (sources.length === 1 && sources[0] !== undefined) return yield* sources[0]
  yield* merged(sources)
}

async function* pagesOf(
  ledger: Ledger,
  filter: LetterFilter & { readonly limit: number },
  from: LetterCursor | undefined,
): AsyncGenerator<readonly DeadLetter[]> {
  let after = from
  for (;;) {
    const page = await ledger.deadLetters({ ...filter, ...(after && { after }) })
    if (page.length > 0) yield page
    if (page.length < filter.limit) return
    after = page.at(-1)
  }
}

/** The pages of several sources as one: the earliest letter of all comes next. */
async function* merged(sources: readonly AsyncGenerator<readonly DeadLetter[]>[]): AsyncGenerator<DeadLetter[]> {
  const heads = await Promise.all(sources.map((source) => refilled({ source, rest: [] })))
  let page: DeadLetter[] = []
  for (;;) {
    let first: Head | undefined
    for (const head of heads) {
      const [letter] = head.rest
      if (letter !== undefined && (first === undefined || compare(letter, first.rest[0] as DeadLetter) < 0))
        first = head
    }
    if (first === undefined) break
    page.push(first.rest.shift() as DeadLetter)
    await refilled(first)
    if (page.length === PAGE) {
      yield page
      page = []
    }
  }
  if (page.length > 0) yield page
}

interface Head {
  readonly source: AsyncGenerator<readonly DeadLetter[]>
  rest: DeadLetter[]
}

async function refilled(head: Head): Promise<Head> {
  if (head.rest.length > 0) return head
  const next = await head.source.next()
  if (next.done !== true) head.rest = [...next.value]
  return head
}

/** The order of the ledger: by time, then by key and generation. */
function compare(a: LetterCursor, b: LetterCursor): number {
  const order = (one: string | number, other: string | number): number => (one < other ? -1 : one > other ? 1 : 0)
  return (
    order(a.atMs, b.atMs) ||
    order(a.scopeKind, b.scopeKind) ||
    order(a.scope, b.scope) ||
    order(a.id, b.id) ||
    order(a.generation, b.generation)
  )
}

/** A condition over letters: CEL over `item`, `key`, `error` and the fields of a letter. */
interface LetterCondition {
  holdsFor(found: FoundLetter): boolean
}

export async function letterCondition(text: string): Promise<LetterCondition> {
  const expression = await compileExpression(text).catch((error: unknown) => {
    throw new OperationError('invalid', { code: 'wrong_condition' }, `--where: ${(error as Error).message}`)
  })
  return { holdsFor: (found) => holds(expression, found) }
}

/** A letter that has no such field is none of those that are meant: letters of many kinds may be looked at. */
function holds(expression: Expression, { letter, task }: FoundLetter): boolean {
  const view = letterView(letter, task)
  try {
    return expression.evaluateBoolean(valuesOf(view, task))
  } catch (error) {
    if (isMissingKey(error)) return false
    const message = `--where, of letter ${view.letter}: ${(error as Error).message}`
    throw new OperationError('invalid', { code: 'wrong_condition' }, message)
  }
}

function valuesOf(view: LetterView, task: TaskRecord | undefined): Readonly<Record<string, Json>> {
  const { kind, run, map, id, key, state, generation, attempts, stopReason, signature, failure, retry } = view
  const { name = '', message = '', code = null, exitCode = null, status = null } = failure ?? {}
  return {
    item: task === undefined ? null : dataOf(task),
    key: key ?? id,
    error: { name, message, code, exit_code: exitCode, status },
    ...{ kind, run, map, id, state, generation, attempts, signature },
    stop_reason: stopReason,
    retryable: retry.makesSense,
  }
}
