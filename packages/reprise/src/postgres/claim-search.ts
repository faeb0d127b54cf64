/** Which statement finds the tasks that a claim asks for. Imports its own layer and the port. */
import { batchOf } from '../ledger/claim-places.js'
import type { DueRequest, QueueRef } from '../ledger/ledger.js'
import type { Statement } from './connections.js'
import { keyColumns, ranksOf, type Statements } from './statements.js'

interface Search {
  readonly statement: Statement
  readonly values: readonly unknown[]
}

/** The queue, if it is one, without limit, batches or ranks that are left out. */
export function onlyPlain({ queues }: DueRequest): QueueRef | undefined {
  const [ref] = queues
  if (ref === undefined || queues.length > 1) return undefined
  return isLimited(ref) || isBatched(ref) || ref.ranks !== undefined ? undefined : ref
}

/** The same, if nothing is asked or locked beside it, and no task is left out. */
export function onlyFresh(request: DueRequest): QueueRef | undefined {
  const { gates = [], runs = [], except = [], isUngated } = request
  return isUngated && gates.length + runs.length + except.length === 0 ? onlyPlain(request) : undefined
}

/** `from`: the due time from which on fresh tasks of a single queue are looked for. */
export function dueSearch(sql: Statements, request: DueRequest, now: number, from: number): Search {
  const { queues, limit, except = [] } = request
  const keys = except.length === 0 ? [] : keyColumns(except)
  const choose = (plain: Statement, left: Statement): Statement => (keys.length === 0 ? plain : left)
  const only = onlyPlain(request)
  if (only !== undefined) {
    const values = [only.queue, only.policyHash, now, limit, from, ...keys]
    return { statement: choose(sql.claimOne, sql.claimOneExcept), values }
  }
  const values = [queues.map(({ queue }) => queue), queues.map(({ policyHash }) => policyHash), now, limit]
  if (!queues.some((ref) => isLimited(ref) || isBatched(ref) || ref.ranks !== undefined)) {
    return { statement: choose(sql.claim, sql.claimExcept), values: [...values, ...keys] }
  }
  const limits = queues.map(({ most }) => most ?? null)
  const ranks = queues.map(ranksOf)
  if (queues.some(isBatched)) {
    const statement = choose(sql.claimBatched, sql.claimBatchedExcept)
    return { statement, values: [...values, limits, ranks, queues.map(batchOf), ...keys] }
  }
  const statement = choose(sql.claimLimited, sql.claimLimitedExcept)
  return { statement, values: [...values, limits, ranks, ...keys] }
}

/** How many places limited queues have; undefined without such queues. */
export function placeSearch({ freePlaces, freeBatches }: Statements, { queues }: DueRequest): Search | undefined {
  const limited = queues.filter(isLimited)
  if (limited.length === 0) return undefined
  const values = [limited.map(({ queue }) => queue), limited.map(({ most }) => most)]
  return { statement: limited.some(isBatched) ? freeBatches : freePlaces, values }
}

function isBatched(ref: QueueRef): boolean {
  return batchOf(ref) > 1
}

function isLimited({ most }: QueueRef): boolean {
  return most !== undefined
}
