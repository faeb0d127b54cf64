/**
 * Items of a map, page by page, and one of them with its attempts. Imports the library, the items, state, recorded plans
 * and views.
 *
 * Invariant: a page is bounded, and what is read for it does not grow with the number of items, but for an item that is
 * named by its key: then the ids of the items are looked through.
 */
import { existsSync } from 'node:fs'
import type { Ledger, RunRecord, TaskRecord } from 'reprise/durable'
import { laneName, livingOwners, nearest } from 'reprise/internal'
import { itemId } from '../items/item-key.js'
import type { MapPlan } from '../plan/map-plan.js'
import { mapsOf } from '../plan/plan.js'
import { classesOfRunning, countsOf, readClasses, runningItems, stateOfItem } from '../run/map/map-counts.js'
import { mapRunId } from '../run/map/map-names.js'
import { recordedPlan } from '../run/recorded-plan.js'
import { StateDirectory } from '../state/state-directory.js'
import { lastSign, readSessions, runEvents } from '../view/read-times.js'
import { scopeOf, taskPages } from '../view/run-pages.js'
import { Policies, StepViews } from '../view/step-views.js'
import type { ItemState } from '../view/map-views.js'
import type { ItemDetail, ItemPage, ItemView } from '../view/views.js'
import { OperationError } from './operation-error.js'
import { stateDirectoryOf } from './store.js'

interface ItemSelection {
  readonly state?: ItemState
  readonly limit: number
  /** The id of the last item of the page before. */
  readonly after?: string
}

/** What waits is listed by its place in the order of claims: 0 interrupted, 1 retries, 2 fresh. */
const RANKS = { pending: [2, 0], retrying: [1, 0] } as const
const STATUSES: Readonly<Partial<Record<ItemState, readonly TaskRecord['status'][]>>> = {
  succeeded: ['succeeded'],
  skipped: ['failed'],
  dead: ['failed'],
  cancelled: ['cancelled'],
  undecided: ['undecided'],
}
/** Recorded as running. */
const UNFINISHED: readonly TaskRecord['status'][] = ['running', 'parked']
/** Keys that are looked at to name a near one. */
const MOST_KEYS = 2000

/** The map with this id or name; undefined if the run has none. */
export async function findMap(ledger: Ledger, run: RunRecord, named: string): Promise<MapPlan | undefined> {
  const maps = mapsOf(recordedPlan(run, (await ledger.definition(run.id)) ?? null))
  return maps.find(({ id }) => id === named) ?? maps.find(({ name }) => name === named)
}

export async function pageOfItems(
  ledger: Ledger,
  run: RunRecord,
  map: MapPlan,
  selection: ItemSelection,
): Promise<ItemPage> {
  const mapRun = mapRunId(run.id, map.id)
  const { state, limit } = selection
  const living = await livingOwners(ledger)
  const tasks = await selected(ledger, mapRun, map, { ...selection, limit: limit + 1 }, living)
  const shown = tasks.slice(0, limit)
  const policies = new Policies()
  await policies.know(ledger, shown)
  const running = await runningItems(ledger, [laneName(mapRun, 'items'), laneName(mapRun, 'sample')], { living })
  return {
    run: run.id,
    map: map.id,
    counts: countsOf(await readClasses(ledger, mapRun), classesOfRunning(running), map.errors),
    state: state ?? null,
    items: shown.map((task) => itemView(task, map, policies, isLost(task, living))),
    next: tasks.length > limit ? (shown.at(-1)?.id ?? null) : null,
  }
}

/** Owners that live, as seen from here. */
type Living = ReadonlyMap<string, unknown>

/** Whether it is recorded as running, and its process is gone. */
function isLost({ status, owner }: TaskRecord, living: Living): boolean {
  return (status === 'running' || status === 'parked') && owner !== null && !living.has(owner)
}

/** Items of one state, or all, in the order of their ids; those that wait in the order of their claims. */
async function selected(
  ledger: Ledger,
  mapRun: string,
  map: MapPlan,
  { state, limit, after }: ItemSelection,
  living: Living,
): Promise<readonly TaskRecord[]> {
  if (state === 'pending' || state === 'retrying')
    return waiting(ledger, mapRun, map, { state, limit, ...(after && { after }) }, living)
  if (state === 'running') return unfinished(ledger, mapRun, (task) => !isLost(task, living), limit, after)
  const statuses = state === undefined ? undefined : STATUSES[state]
  // A failed item is dead or skipped, as the map says.
  if (state !== undefined && statuses?.includes('failed') === true) {
    if (stateOfItem({ status: 'failed' } as TaskRecord, map.errors) !== state) return []
  }
  const key = after === undefined ? undefined : { ...scopeOf(mapRun), id: after }
  return ledger.list({ ...scopeOf(mapRun), limit, ...(statuses && { statuses }), ...(key && { after: key }) })
}

/** What is recorded as running, as far as it is meant: at most as many as run at a time, and those of lost processes. */
async function unfinished(
  ledger: Ledger,
  mapRun: string,
  isMeant: (task: TaskRecord) => boolean,
  limit: number,
  after: string | undefined,
): Promise<TaskRecord[]> {
  const found: TaskRecord[] = []
  const filter = { ...scopeOf(mapRun), statuses: UNFINISHED }
  for await (const page of taskPages(ledger, filter)) {
    found.push(...page.filter((task) => (after === undefined || task.id > after) && isMeant(task)))
    if (found.length >= limit) break
  }
  return found.slice(0, limit)
}

/** Those that lost processes have left come first: they are claimed before all others. */
async function waiting(
  ledger: Ledger,
  mapRun: string,
  map: MapPlan,
  { state, limit, after }: ItemSelection & { readonly state: keyof typeof RANKS },
  living: Living,
): Promise<readonly TaskRecord[]> {
  const last = after === undefined ? undefined : await ledger.get({ ...scopeOf(mapRun), id: after })
  const isLeft = (task: TaskRecord): boolean => isLost(task, living) && stateOfItem(task, map.errors, true) === state
  const isAmongLeft = last === undefined || isLost(last, living)
  const found = isAmongLeft ? await unfinished(ledger, mapRun, isLeft, limit, after) : []
  if (found.length >= limit) return found
  let isPast = isAmongLeft
  for (const queue of [laneName(mapRun, 'sample'), laneName(mapRun, 'items')]) {
    const counted = await ledger.countWaiting(queue)
    for (const rank of RANKS[state])
      for (const { policyHash } of counted.filter((one) => one.rank === rank)) {
        // The page before ended in one of these lists: those before it are done.
        const isHere = !isPast && last?.queue === queue && last.policyHash === policyHash
        if (!isPast && !isHere) continue
        isPast = true
        const from = isHere && last !== undefined ? { after: last } : {}
        const page = await ledger.waiting({ queue, policyHash, rank, limit: limit - found.length, ...from })
        found.push(...page.filter((task) => stateOfItem(task, map.errors) === state))
        if (found.length >= limit) return found
      }
  }
  return found
}

function itemView(task: TaskRecord, map: MapPlan, policies: Policies, isLeft: boolean): ItemView {
  const { id, generation, progress, dueAtMs, stopReason, updatedAtMs } = task
  return {
    item: id,
    key: keyOf(task),
    index: Number.parseInt(id, 10),
    state: stateOfItem(task, map.errors, isLeft),
    generation,
    attempts: progress.retry?.launched ?? 0,
    attemptsAllowed: policies.of(task.policyHash).attempts,
    nextAttemptAtMs: dueAtMs,
    stopReason,
    failure: task.status === 'succeeded' ? null : progress.lastFailure,
    updatedAtMs,
  }
}

function keyOf({ id, input }: TaskRecord): string {
  return (input as { readonly key?: string } | null)?.key ?? id
}

/** One item by its id or its key; of several with one key the first. */
export async function findItem(ledger: Ledger, run: RunRecord, map: MapPlan, named: string): Promise<TaskRecord> {
  const mapRun = mapRunId(run.id, map.id)
  const byId = await ledger.get({ ...scopeOf(mapRun), id: named })
  if (byId !== undefined) return byId
  const ending = itemId(0, named).slice(itemId(0, '').indexOf('.'))
  const known: string[] = []
  for await (const page of taskPages(ledger, { ...scopeOf(mapRun), withInput: false }))
    for (const { id } of page) {
      if (known.length < MOST_KEYS) known.push(id.slice(id.indexOf('.') + 1))
      const task = id.endsWith(ending) ? await ledger.get({ ...scopeOf(mapRun), id }) : undefined
      if (task !== undefined && keyOf(task) === named) return task
    }
  const near = nearest(named, known)
  const message = `Map ${map.id} of run ${run.id} has no item ${named}.${near === undefined ? '' : ` Did you mean ${near}?`}`
  throw new OperationError('not_found', { code: 'unknown_item', run: run.id, map: map.id }, message)
}

/** The item as a step with its attempts, of all generations. */
export async function viewItem(
  ledger: Ledger,
  run: RunRecord,
  map: MapPlan,
  task: TaskRecord,
  store: string,
): Promise<ItemDetail> {
  const state = StateDirectory.at(stateDirectoryOf(store))
  const place = { run: run.id, item: { map: map.id, id: task.id }, step: '' }
  const [attempts, events, living] = [
    await ledger.attempts(task),
    await runEvents(ledger, run.id),
    await livingOwners(ledger),
  ]
  const lastMs = await lastSign(ledger, run, living)
  const sessions = await readSessions(ledger, run, events, lastMs, mapRunId(run.id, map.id))
  const isInterrupted = run.endedAtMs === null && (run.owner === null || !living.has(run.owner))
  const look = new StepViews({
    attempts,
    sessions,
    logOf: (_step, attempt) => {
      const file = state.logFile(place, attempt)
      return existsSync(file) ? file : null
    },
    isInterrupted,
  })
  await look.know(ledger, [task])
  const { value = null } = (task.input ?? {}) as { readonly value?: ItemDetail['value'] }
  return {
    ...look.task(task, 'item', keyOf(task)),
    run: run.id,
    key: keyOf(task),
    index: Number.parseInt(task.id, 10),
    value,
    result: task.result ?? null,
  }
}
