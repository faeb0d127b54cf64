/**
 * What a redrive of chosen letters would do, run by run, before anything is touched; and the redrive itself as what
 * `redriveRun` takes. Imports the library, plans, runs and its own directory.
 */
import { randomUUID } from 'node:crypto'
import type { Ledger, RunRecord } from 'reprise/durable'
import { type Actor, laneName, type LetterDecision, type LetterRef, livingOwners } from 'reprise/internal'
import type { MapRate } from '../../plan/map-plan.js'
import { mapsOf, type Plan } from '../../plan/plan.js'
import { isConducted } from '../find-run.js'
import { OperationError } from '../operation-error.js'
import { prepareResume } from '../prepare-resume.js'
import { openInQueue, readClasses } from '../../run/map/map-counts.js'
import { mapRunId, partsOfMapRun } from '../../run/map/map-names.js'
import { mapNotesOf } from '../../run/map/map-record.js'
import type { RedriveOutcome } from '../../run/map/redrive-items.js'
import { recordedPlan } from '../../run/recorded-plan.js'
import type { RedriveInput } from '../../run/redrive-run.js'
import { scopeOf } from '../../view/run-pages.js'
import { foundLetters, type LetterSelection } from './letter-pages.js'
import { isUndecided, placeOfScope } from './letter-view.js'

export interface RedriveChoices extends Actor {
  /** Undecided tasks are redriven too. */
  readonly undecided: boolean
  /** Instead of fresh attempts: what a person has found out about undecided items. */
  readonly decision?: LetterDecision
  /** The steps after the map run once more. */
  readonly reduce: boolean
  /** The workflow file as it is now, instead of the recorded one. */
  readonly acceptChanges: boolean
  readonly canary?: number
  readonly parallel?: number
  readonly rate?: MapRate
}

/** Letters of one run. */
export interface ChosenRun {
  readonly run: string
  /** Ids of steps. */
  readonly steps: string[]
  /** Items by map. */
  readonly maps: Map<string, number>
  /** Items that an interrupted redrive left: they are finished too. */
  left: number
}

export interface ChosenLetters {
  readonly redriveId: string
  readonly selection: LetterSelection
  readonly runs: readonly ChosenRun[]
  /** Letters of tasks of programs. */
  readonly tasks: readonly LetterRef[]
  /** Undecided items and tasks that are left alone: only a person can say whether their attempts took effect. */
  readonly undecided: number
  /** Undecided steps, which are left alone: a person decides about them with the resume of their run. */
  readonly undecidedSteps: readonly { readonly run: string; readonly step: string }[]
  /** Letters of `on_item_error`, which are left alone: a redrive of their items replaces them. */
  readonly others: number
}

/** `dead`: undecided letters are left alone. `all`: they are chosen too. `undecided`: only they are chosen. */
export type LetterChoice = 'dead' | 'all' | 'undecided'

/** Chooses among the letters that are open now: an item that fails again meanwhile is not redriven twice. */
export async function chooseLetters(
  ledger: Ledger,
  given: LetterSelection,
  choice: LetterChoice,
): Promise<ChosenLetters> {
  const selection = { ...given, isOpen: true, untilMs: await ledger.now() }
  const runs = new Map<string, ChosenRun>()
  const chosenRun = (run: string): ChosenRun => {
    const known = runs.get(run) ?? { run, steps: [], maps: new Map<string, number>(), left: 0 }
    runs.set(run, known)
    return known
  }
  const tasks: LetterRef[] = []
  const undecidedSteps: { run: string; step: string }[] = []
  let [undecided, others] = [0, 0]
  // With their tasks: one whose record cannot be is refused here, before anything is redriven.
  for await (const page of foundLetters(ledger, selection))
    for (const { letter } of page) {
      const { kind, run, map } = placeOfScope(letter)
      const isOpenQuestion = isUndecided(letter)
      if (choice === 'undecided' && !isOpenQuestion) continue
      if (kind === 'on_item_error') others++
      else if (isOpenQuestion && kind === 'step' && run !== null) undecidedSteps.push({ run, step: letter.id })
      else if (isOpenQuestion && choice === 'dead') undecided++
      else if (run === null) tasks.push(letter)
      else if (map === null) chosenRun(run).steps.push(letter.id)
      else {
        const { maps } = chosenRun(run)
        maps.set(map, (maps.get(map) ?? 0) + 1)
      }
    }
  const unfinishedMaps = choice === 'undecided' ? [] : await unfinished(ledger, selection)
  for (const { run, map, left } of unfinishedMaps) {
    const chosen = chosenRun(run)
    chosen.left += left
    chosen.maps.set(map, chosen.maps.get(map) ?? 0)
  }
  return { redriveId: randomUUID(), selection, runs: [...runs.values()], tasks, undecided, undecidedSteps, others }
}

interface UnfinishedMap {
  readonly run: string
  readonly map: string
  readonly left: number
}

/** Maps that an interrupted redrive left, among those that are meant: with items in the lane, or with none at all to do. */
async function unfinished(ledger: Ledger, { scopes, names }: LetterSelection): Promise<UnfinishedMap[]> {
  if (names !== undefined) return []
  const open = await ledger.runs({ statuses: ['running', 'interrupted'] })
  const found: UnfinishedMap[] = []
  for (const record of open) {
    const { id } = record
    const parts = partsOfMapRun(id)
    const isMeant = scopes === undefined || scopes.some(({ scopeKind, scope }) => scopeKind === 'run' && scope === id)
    if (parts === undefined || !isMeant) continue
    const left = await openInQueue(ledger, laneName(id, 'redrive'))
    if (left > 0 || (await isOnlyUnsaid(ledger, record))) found.push({ ...parts, left })
  }
  return found
}

/** Its items have all ended, and its process was lost before it could say so. */
async function isOnlyUnsaid(ledger: Ledger, record: RunRecord): Promise<boolean> {
  const { fresh, retrying } = await readClasses(ledger, record.id)
  if (!mapNotesOf(record).isEnumerated || fresh + retrying > 0) return false
  return !(await isConducted(ledger, record))
}

/** A run that can be redriven. */
interface PreparedRedrive {
  readonly record: RunRecord
  readonly plan: Plan
  /** `onEnd` hears what became of the items of each map. */
  input(onEnd: (outcome: RedriveOutcome) => void): RedriveInput
}

/** `onMissingFile` is told of a file that is gone: what is recorded of it is used. */
export async function prepareRedrive(
  ledger: Ledger,
  chosen: ChosenRun,
  letters: ChosenLetters,
  choices: RedriveChoices,
  onMissingFile: (file: string) => void,
): Promise<PreparedRedrive> {
  const record = await ledger.run(chosen.run)
  if (record === undefined || record.status === 'removing')
    throw new OperationError('not_found', { code: 'unknown_run', near: undefined }, `There is no run ${chosen.run}.`)
  if (record.status === 'cancelled') {
    const message = `Run ${record.id} was cancelled: resume it with fresh attempts instead.`
    throw new OperationError('not_possible', { code: 'run_cancelled', run: record.id }, message)
  }
  await expectFree(ledger, record)
  const { plan, check } = await planFor(ledger, record, choices, onMissingFile)
  const repeatAfter = choices.reduce ? repeatedMap(plan, chosen) : undefined
  return {
    record,
    plan,
    input: (onEnd) => ({
      steps: chosen.steps,
      items: itemsOf(chosen, letters, choices, onEnd),
      ...(repeatAfter !== undefined && { repeatAfter }),
      check,
    }),
  }
}

async function expectFree(ledger: Ledger, { id, owner }: RunRecord): Promise<void> {
  const holder = owner === null ? undefined : (await livingOwners(ledger)).get(owner)
  if (holder === undefined) return
  const { pid, host } = holder
  const message = `Run ${id} is being executed by process ${pid} on ${host}: its letters can be retried when it has ended.`
  throw new OperationError('locked', { code: 'run_locked', run: id }, message)
}

async function planFor(
  ledger: Ledger,
  record: RunRecord,
  { acceptChanges }: RedriveChoices,
  onMissingFile: (file: string) => void,
): Promise<{ plan: Plan; check: RedriveInput['check'] }> {
  if (!acceptChanges) {
    const plan = recordedPlan(record, (await ledger.definition(record.id)) ?? null)
    return { plan, check: { run: record, isChanged: false, differences: [] } }
  }
  const choices = { resetRetries: true, acceptChanges, done: [], rerun: [], force: false }
  const { plan, check } = await prepareResume(ledger, record, choices, onMissingFile)
  return { plan, check }
}

function itemsOf(
  { run, maps }: ChosenRun,
  { redriveId, selection }: ChosenLetters,
  { reason, by, undecided, decision, canary, parallel, rate }: RedriveChoices,
  onEnd: (outcome: RedriveOutcome) => void,
): RedriveInput['items'] {
  const meant = new Set([...maps.keys()].map((map) => mapRunId(run, map)))
  return {
    letters: (ledger, mapRun) =>
      meant.has(mapRun) ? refs(ledger, { ...selection, scopes: [scopeOf(mapRun)], withTasks: false }) : undefined,
    grant: { reason, redriveId, undecided, ...(by !== undefined && { by }), ...(decision && { decision }) },
    ...(canary !== undefined && { canary }),
    ...(parallel !== undefined && { most: parallel }),
    ...(rate !== undefined && { rate }),
    onEnd,
  }
}

async function* refs(ledger: Ledger, selection: LetterSelection): AsyncGenerator<readonly LetterRef[]> {
  for await (const page of foundLetters(ledger, selection)) yield page.map(({ letter }) => letter)
}

/** Steps are repeated after the last map only: a later map has its items already. */
function repeatedMap(plan: Plan, { run, maps }: ChosenRun): string {
  const last = mapsOf(plan).at(-1)
  const earlier = [...maps.keys()].find((map) => map !== last?.id)
  if (last !== undefined && earlier === undefined) return last.id
  const why =
    last === undefined
      ? 'it has no map'
      : `map ${earlier ?? ''} is followed by map ${last.id}, which has its items already`
  const message = `The steps after a map of run ${run} cannot be repeated: ${why}.`
  throw new OperationError('not_possible', { code: 'not_repeatable', run }, message)
}
