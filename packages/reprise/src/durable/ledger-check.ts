/**
 * Whether what a ledger holds can be: every task, run and gate of a copy as of one moment, against the states that a resume
 * refuses and the invariants I1 to I10 of docs/guarantees.md, as far as records show them. Imports the ledger's layer and
 * the checks of single tasks and gates.
 *
 * The rows come table by table, as `COPIED_TABLES` has them. Of each task only what later tables are compared with is
 * kept. Tasks that were cancelled are not compared with their history: nothing follows from it any more.
 */
import type { CopiedRows } from '../ledger/copied-tables.js'
import {
  type AttemptRow,
  ENDED_RUN_STATUSES,
  type GateRecord,
  type Json,
  keyOf,
  nameOf,
  type RunRecord,
  type TaskKey,
  type TaskRecord,
} from '../ledger/records.js'
import {
  attemptOf,
  deadLetterOf,
  eventOf,
  gateOf,
  parse,
  runOf,
  type SqlRow,
  tallyInRow,
  taskOf,
} from '../ledger/rows.js'
import { classOf, TallyCounts, type TaskClass, TASK_CLASSES } from '../ledger/tally.js'
import { faultsOfGate, faultsOfSlots } from './gate-check.js'
import { type CheckedTask, faultsOfEnd, faultsOfPlace, faultsOfRows, faultsOfRun } from './task-check.js'
import { faultsOfHistory, faultsOfState, lacksState } from './state-check.js'
import { faultsOfFailure, faultsOfPolicy, faultsOfShape } from './task-shape.js'

/**
 * `state`: what a resume refuses. `history`: what of attempts and dead letters cannot be shown. The others are the invariants
 * by their numbers.
 */
type FaultRule = 'state' | 'history' | 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I6' | 'I7' | 'I8' | 'I9' | 'I10'

export type FaultPlace =
  /** `runState`: of the run whose step it is; `missing` if the ledger has no such run. Null for a task of a program. */
  | (TaskKey & { readonly type: 'task'; readonly runState: 'open' | 'ended' | 'missing' | null })
  | { readonly type: 'run'; readonly run: string; readonly isEnded: boolean }
  | { readonly type: 'gate'; readonly kind: GateRecord['kind']; readonly key: string }
  | { readonly type: 'tally'; readonly name: string }
  | { readonly type: 'ledger' }

export interface LedgerFault {
  readonly rule: FaultRule
  readonly place: FaultPlace
  readonly message: string
  /** By how much a budget is above its limit. */
  readonly excess?: number
}

export interface LedgerCheck {
  readonly runs: number
  readonly tasks: number
  readonly faults: readonly LedgerFault[]
  /** What is over and needs no cure: attempts that began before their time (I8), as when a clock was set back. */
  readonly notes: readonly LedgerFault[]
}

/** A fault of one thing, before it is said where it is. */
export type Fault = readonly [rule: FaultRule, message: string, excess?: number]

/** What the owner of a kind of runs knows of them: whether what it keeps with a run can be. */
export type RunCheck = (run: RunRecord, definition: Json) => readonly string[]

/** The same for the rows that a package keeps for itself among the gates. */
export type RowCheck = (row: GateRecord) => readonly string[]

export async function checkLedger(
  source: CopiedRows,
  runCheck: RunCheck = () => [],
  rowCheck: RowCheck = () => [],
): Promise<LedgerCheck> {
  const check = new Check(runCheck, rowCheck)
  for await (const { table, rows } of source) for (const row of rows) check.take(table.name, row)
  return check.result()
}

class Check {
  private readonly runCheck: RunCheck
  private readonly rowCheck: RowCheck
  private readonly runFaults = new Map<string, readonly string[]>()
  private readonly attemptsAllowed = new Map<string, number>()
  private readonly policyFaults = new Map<string, readonly string[]>()
  private readonly runs = new Map<string, RunRecord>()
  private readonly tasks = new Map<number, CheckedTask>()
  private readonly byName = new Map<string, CheckedTask>()
  private readonly gates: GateRecord[] = []
  /** As the tasks say, and less what the store says: nothing is left where both say the same. */
  private readonly tallies = new TallyCounts()
  private readonly strays = { attempts: 0, letters: 0, checkpoints: 0 }
  /** Of the first event that is left: later than 1 where older ones were removed. */
  private firstEvent = Infinity

  constructor(runCheck: RunCheck, rowCheck: RowCheck) {
    this.runCheck = runCheck
    this.rowCheck = rowCheck
  }

  take(table: string, row: SqlRow): void {
    if (table === 'policies') this.takePolicy(row)
    else if (table === 'runs') this.takeRun(row)
    else if (table === 'tasks') this.takeTask(row)
    else if (table === 'checkpoints') this.takeCheckpoint(row)
    else if (table === 'attempts') this.takeAttempt(row)
    else if (table === 'gates') this.gates.push(gateOf(row))
    else if (table === 'tallies') this.takeTally(row)
    else if (table === 'dead') this.takeLetter(row)
    else if (table === 'events') this.takeEvent(row)
  }

  result(): LedgerCheck {
    const faults: LedgerFault[] = []
    for (const run of this.runs.values()) {
      const kept = (this.runFaults.get(run.id) ?? []).map((message): Fault => ['state', message])
      faults.push(...[...kept, ...faultsOfRun(run)].map(at(runPlace(run))))
    }
    for (const checked of this.tasks.values()) faults.push(...this.taskFaults(checked).map(at(this.taskPlace(checked))))
    const holders = [...this.tasks.values()].flatMap(({ task }) => task.progress?.current?.probe ?? [])
    for (const gate of this.gates) {
      const { kind, key } = gate
      const own = kind === 'record' ? this.rowCheck(gate).map((message): Fault => ['state', message]) : []
      const found = [...own, ...faultsOfGate(gate), ...faultsOfSlots(gate, holders)]
      faults.push(...found.map(at({ type: 'gate', kind, key })))
    }
    for (const [name, left] of this.tallies.entries()) {
      const wrong = TASK_CLASSES.flatMap((taskClass, index) => wordsOfCount(taskClass, left[index] as number))
      if (wrong.length === 0) continue
      const fault: Fault = ['I10', `it does not count the tasks that are there: ${wrong.join(', ')}`]
      faults.push(at({ type: 'tally', name })(fault))
    }
    faults.push(...this.strayFaults().map(at({ type: 'ledger' })))
    // Only attempts that have ended are compared with their times.
    const isOver = ({ rule }: LedgerFault): boolean => rule === 'I8'
    const notes = faults.filter(isOver)
    return { runs: this.runs.size, tasks: this.tasks.size, faults: faults.filter((one) => !isOver(one)), notes }
  }

  private takeRun(row: SqlRow): void {
    const run = runOf(row)
    this.runs.set(run.id, run)
    const faults = this.runCheck(run, parse(row['definition'] ?? 'null', `run ${run.id}`))
    if (faults.length > 0) this.runFaults.set(run.id, faults)
  }

  private takePolicy(row: SqlRow): void {
    const [hash, policy] = [String(row['hash']), parse(row['policy'], 'a policy')]
    const faults = faultsOfPolicy(policy)
    if (faults.length > 0) this.policyFaults.set(hash, faults)
    const { attempts = Infinity } = (policy ?? {}) as { readonly attempts?: number }
    this.attemptsAllowed.set(hash, attempts)
  }

  private takeTask(row: SqlRow): void {
    const { pk, task } = taskOf(row)
    // What it was given and gave may be long, and is not looked at.
    const { result: _, ...rest } = task
    const checked = {
      task: { ...rest, input: null },
      rows: [],
      letters: [],
      events: [],
      pastFaults: [],
      hasCheckpoint: false,
    }
    this.tasks.set(pk, checked)
    this.byName.set(nameOf(task), checked)
    if (task.tally !== undefined) this.tallies.add(task.tally, classOf(task))
  }

  /** One of possibly several rows of the tally. */
  private takeTally(row: SqlRow): void {
    const tally = tallyInRow(row)
    for (const taskClass of TASK_CLASSES) this.tallies.add(String(row['name']), taskClass, -tally[taskClass])
  }

  private takeCheckpoint(row: SqlRow): void {
    const checked = this.tasks.get(Number(row['task']))
    if (checked === undefined) this.strays.checkpoints += 1
    else checked.hasCheckpoint = true
  }

  private takeAttempt(row: SqlRow): void {
    const checked = this.tasks.get(Number(row['task']))
    if (checked === undefined) {
      this.strays.attempts += 1
      return
    }
    const attempt = attemptOf(row, checked.task)
    notePast(checked, `attempt ${attempt.attempt}`, attempt.failure)
    checked.rows.push(withoutTexts(attempt))
  }

  private takeLetter(row: SqlRow): void {
    const letter = deadLetterOf(row)
    const checked = this.byName.get(nameOf(letter))
    if (checked === undefined) {
      this.strays.letters += 1
      return
    }
    notePast(checked, 'a dead letter', letter.failure)
    checked.letters.push({ generation: letter.generation, isOpen: letter.closed === undefined })
  }

  private takeEvent(row: SqlRow): void {
    const event = eventOf(row)
    const { seq, type, atMs } = event
    this.firstEvent = Math.min(this.firstEvent, seq)
    if (type === 'reset' || type === 'migrated' || type === 'retry_now' || type === 'decided')
      this.byName.get(nameOf(event))?.events.push({ type, atMs })
  }

  private taskFaults(checked: CheckedTask): Fault[] {
    const { task, rows } = checked
    // Of a damaged store they come as they can be read.
    rows.sort((a, b) => a.generation - b.generation || a.attempt - b.attempt || a.execution - b.execution)
    const hasAllEvents = this.firstEvent === 1
    const shape = faultsOfShape(task.progress)
    const policy = this.policyFaults.get(task.policyHash) ?? []
    const damages = [...shape, ...policy].map((message): Fault => ['state', message])
    const past = checked.pastFaults.map((message): Fault => ['history', message])
    if (damages.length > 0) return [...damages, ...past]
    const common = [...past, ...faultsOfPlace(checked), ...faultsOfEnd(checked, hasAllEvents)]
    if (task.status === 'cancelled' || lacksState(task)) return common
    const attempts = this.attemptsAllowed.get(task.policyHash)
    const missing: Fault[] =
      attempts === undefined ? [['state', 'its policy is not in the store: no program can tell what it may do']] : []
    const isOpen = task.status !== 'succeeded' && task.status !== 'failed'
    const refused = isOpen ? [...faultsOfState(task, attempts ?? Infinity), ...historyFaults(task, rows)] : []
    const states: Fault[] = refused.map((message) => ['state', message])
    return [...missing, ...states, ...common, ...faultsOfRows(checked, attempts ?? Infinity)]
  }

  private taskPlace({ task }: CheckedTask): FaultPlace {
    if (task.scopeKind !== 'run') return { type: 'task', ...keyOf(task), runState: null }
    const run = this.runs.get(task.scope)
    const runState = run === undefined ? 'missing' : isEnded(run) ? 'ended' : 'open'
    return { type: 'task', ...keyOf(task), runState }
  }

  private strayFaults(): Fault[] {
    const { attempts, letters, checkpoints } = this.strays
    return [
      ...(attempts === 0 ? [] : [['I1', `${attempts} recorded attempts belong to no task`] as const]),
      ...(letters === 0 ? [] : [['I6', `${letters} dead letters belong to no task`] as const]),
      ...(checkpoints === 0 ? [] : [['I5', `${checkpoints} checkpoints belong to no task`] as const]),
    ]
  }
}

/** `left`: how many tasks there are beyond those that are counted. */
function wordsOfCount(taskClass: TaskClass, left: number): string[] {
  if (left === 0) return []
  return [left > 0 ? `${left} more are ${taskClass}` : `${-left} fewer are ${taskClass}`]
}

function at(place: FaultPlace): (fault: Fault) => LedgerFault {
  return ([rule, message, excess]) => ({ rule, place, message, ...(excess !== undefined && { excess }) })
}

function runPlace(run: RunRecord): FaultPlace {
  return { type: 'run', run: run.id, isEnded: isEnded(run) }
}

function isEnded({ status, endedAtMs }: RunRecord): boolean {
  return endedAtMs !== null && ENDED_RUN_STATUSES.has(status)
}

/** As `Ledger.attemptCounts` counts them. */
function historyFaults(task: TaskRecord, rows: readonly AttemptRow[]): string[] {
  const own = rows.filter(({ generation }) => generation === task.generation)
  const last = own.reduce((most, { attempt }) => Math.max(most, attempt), 0)
  const ended = own.filter(({ outcome, failure }) => outcome !== 'interrupted' || failure !== null).length
  return faultsOfHistory(task, { last, ended })
}

function notePast({ pastFaults }: CheckedTask, of: string, failure: unknown): void {
  for (const fault of faultsOfFailure(failure)) pastFaults.push(`${of}: ${fault}`)
}

function withoutTexts(row: AttemptRow): AttemptRow {
  return row.failure === null ? row : { ...row, failure: { name: row.failure.name, message: '' } }
}
