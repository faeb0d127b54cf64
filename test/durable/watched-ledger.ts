/**
 * A ledger that looks at every commit before it is made, and notes what breaks a promise: what a history no longer shows
 * because it was written over. Imports the ledger's types.
 */
import type { Decided, Ledger, Seat, View } from '../../packages/reprise/src/ledger/ledger.js'
import {
  type AttemptRow,
  type GateRecord,
  type TaskRecord,
  TERMINAL,
} from '../../packages/reprise/src/ledger/records.js'

type Changes = Omit<Decided<unknown>, 'result'>

/** The same ledger; `faults` gets a line for every promise that a commit breaks. */
export function watched(ledger: Ledger, faults: string[]): Ledger {
  const note = (view: View, changes: Changes): void => void faults.push(...faultsOfCommit(view, changes))
  return new Proxy(ledger, {
    get: (target, verb: keyof Ledger) => {
      if (verb === 'transact') return transact
      if (verb === 'claim') return claim
      const value: unknown = target[verb]
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })

  function transact<T>(keys: Parameters<Ledger['transact']>[0], decide: (view: View) => Decided<T>): Promise<T> {
    return ledger.transact(keys, (view) => {
      const decided = decide(view)
      note(view, decided)
      return decided
    })
  }

  function claim<T>(
    request: Parameters<Ledger['claim']>[0],
    decide: (task: TaskRecord, view: View, seat: Seat) => Decided<T>,
  ): Promise<readonly T[]> {
    return ledger.claim(request, (task, view, seat) => {
      const decided = decide(task, view, seat)
      note(view, decided)
      return decided
    })
  }
}

export function faultsOfCommit(view: View, changes: Changes): string[] {
  const faults = (changes.tasks ?? []).flatMap((after) => {
    const before = view.task(after)
    const found = before === undefined ? ['written, but not there'] : faultsOfChange(before, after, changes, view.now)
    return found.map((fault) => `${after.id}: ${fault}`)
  })
  const gates = (changes.gates ?? []).flatMap((after) =>
    faultsOfGate(view.gate(after.key), after, isByHand(after, changes), view.now).map(
      (fault) => `${after.key}: ${fault}`,
    ),
  )
  return [...faults, ...gates, ...slotFaults(view, changes)]
}

/** I9: slots of a half-open breaker are taken and given back with the attempts that hold them. */
function slotFaults(view: View, { tasks = [], gates = [] }: Changes): string[] {
  return gates.flatMap(({ key, state }) => {
    const [old, next] = [(view.gate(key)?.state ?? {}) as GateState, state as GateState]
    if (next.phase !== 'half_open') return []
    const holds = (task: TaskRecord | undefined): number => {
      const probe = task?.progress.current?.probe
      return `breaker:${probe?.breaker}` === key && probe?.epoch === next.epoch ? 1 : 0
    }
    const moved = tasks.reduce((sum, task) => sum + holds(task) - holds(view.task(task)), 0)
    const expected = (old.epoch === next.epoch ? (old.probes ?? 0) : 0) + moved
    return next.probes === expected ? [] : [`${key}: has ${next.probes} probes in place of ${expected}`]
  })
}

function faultsOfChange(before: TaskRecord, after: TaskRecord, changes: Changes, now: number): string[] {
  return [
    ...placeFaults(after),
    ...fenceFaults(before, after, changes),
    ...endFaults(before, after, changes),
    ...rowFaults(before, after, changes),
    ...countFaults(before, after),
    ...startFaults(before, after, changes, now),
  ]
}

/** I3 */
function placeFaults({ status, owner, dueAtMs }: TaskRecord): string[] {
  const place = [owner !== null, dueAtMs !== null].join()
  const expected = { running: 'true,false', parked: 'true,true', waiting: 'false,true' }[status as string]
  return place === (expected ?? 'false,false') ? [] : [`is ${status} with owner ${owner} and due time ${dueAtMs}`]
}

/** I7 */
function fenceFaults(before: TaskRecord, after: TaskRecord, { events = [] }: Changes): string[] {
  if (after.fence < before.fence) return [`its fence falls from ${before.fence} to ${after.fence}`]
  const isTaken = events.some(({ type, id }) => id === after.id && (type === 'resumed' || type === 'cancelled'))
  const changesOwner = after.owner !== null && after.owner !== before.owner
  // A process whose loss was charged may still deliver its result, until the next claim.
  const isOwned = before.owner !== null && after.progress.lost?.owner !== before.owner
  return (changesOwner || (isTaken && isOwned)) && after.fence === before.fence
    ? ['changes hands behind one fence']
    : []
}

/** I5 and I6 */
function endFaults(before: TaskRecord, after: TaskRecord, changes: Changes): string[] {
  const { dead = [], closedLetters = [], events = [] } = changes
  const faults: string[] = []
  const isReset = events.some(({ type, id }) => type === 'reset' && id === after.id)
  if (after.generation !== before.generation + (isReset ? 1 : 0)) faults.push('has another generation without a reset')
  const isChangedByHand = events.some(
    ({ type, id }) => (type === 'acknowledged' || type === 'input_changed') && id === after.id,
  )
  const staysSo = isChangedByHand && after.status === before.status
  if (TERMINAL.has(before.status) && !isReset && !staysSo)
    faults.push(`was ${before.status}, and becomes ${after.status}`)
  const letters = dead.filter(({ id }) => id === after.id).length
  const [had, has] = [before, after].map(hasOpenLetter)
  if (letters !== (has && !had ? 1 : 0)) faults.push(`${letters} dead letters as it becomes ${after.status}`)
  const closed = closedLetters.filter(({ id, generation }) => id === after.id && generation === before.generation)
  if (closed.length !== (had && !has ? 1 : 0))
    faults.push(`${closed.length} dead letters are closed as it becomes ${after.status}`)
  return faults
}

function hasOpenLetter({ status, progress }: TaskRecord): boolean {
  return status === 'undecided' || (status === 'failed' && progress.acknowledged !== true)
}

/** Only the attempt in flight has an end, and it has one. */
function rowFaults(before: TaskRecord, after: TaskRecord, { attempts = [] }: Changes): string[] {
  const own = attempts.filter(({ id }) => id === after.id)
  const rows = own.filter(({ outcome }) => outcome !== 'denied')
  const { current } = before.progress
  const wasDenied = own.length > rows.length
  const denied = wasDenied && after.status !== 'failed' ? [`an attempt is denied as it becomes ${after.status}`] : []
  const faults = rows.flatMap((row) => {
    const isCurrent = row.attempt === current?.attempt && row.execution === current.execution
    const isInFlight = before.status === 'running' && isCurrent && row.owner === before.owner
    return isInFlight || isLateResult(before, after, row)
      ? []
      : [`attempt ${row.attempt}.${row.execution} ends, but is not in flight`]
  })
  faults.push(...denied)
  if (rows.length > 1) faults.push('one attempt ends twice')
  const isStill = after.status === 'running' && after.fence === before.fence
  if (before.status === 'running' && rows.length === 0 && !isStill) faults.push('an attempt in flight leaves no trace')
  return faults
}

/** Of the process that was charged as lost; it ends the task. */
function isLateResult({ status, progress }: TaskRecord, after: TaskRecord, row: AttemptRow): boolean {
  const { lost } = progress
  const isOfLost = lost?.attempt === row.attempt && lost.execution + 1 === row.execution && lost.owner === row.owner
  return status === 'waiting' && isOfLost && TERMINAL.has(after.status)
}

/** I4: what was counted stays counted. */
function countFaults(before: TaskRecord, after: TaskRecord): string[] {
  if (after.generation !== before.generation) return []
  const [old, now] = [before.progress.retry, after.progress.retry]
  const faults = (['failures', 'launched', 'totalDelayMs'] as const).flatMap((field) =>
    now[field] < old[field] ? [`its ${field} fall from ${old[field]} to ${now[field]}`] : [],
  )
  if (now.launched > old.launched + 1) faults.push('skips an attempt')
  if (old.resumed && !now.resumed) faults.push('was resumed, and was not')
  if (old.expiresAtMs !== null && now.expiresAtMs !== old.expiresAtMs) faults.push('its expiry moves')
  // Set by the first start.
  const isMoved = now.deadlineAtMs !== old.deadlineAtMs && (old.deadlineAtMs !== null || old.launched > 0)
  if (isMoved) faults.push('its deadline moves')
  if (now.seed !== old.seed) faults.push('its seed changes')
  return faults
}

/** I8 */
function startFaults(before: TaskRecord, after: TaskRecord, { attempts = [] }: Changes, now: number): string[] {
  if (after.status !== 'running' || after.fence === before.fence) return []
  const isEarly = before.status === 'waiting' && now < (before.dueAtMs as number)
  if (isEarly) return [`starts ${(before.dueAtMs as number) - now} ms before its time`]
  return before.status === 'running' && attempts.length === 0 ? ['starts while it runs'] : []
}

interface GateState {
  readonly used?: number
  readonly granted?: number
  readonly keys?: unknown
  readonly phase?: string
  readonly openUntilMs?: number | null
  readonly epoch?: number
  readonly probes?: number
}

/** The commit says that somebody wanted it so. */
function isByHand({ key }: GateRecord, { events = [] }: Changes): boolean {
  return events.some(({ type, detail }) => type === 'gate_changed' && (detail as { gate?: string }).gate === key)
}

/** I4 and I9: a count never falls; no limit rises and no open breaker closes before its time, but by hand. */
function faultsOfGate(before: GateRecord | undefined, after: GateRecord, byHand: boolean, now: number): string[] {
  const [old, next] = [(before?.state ?? {}) as GateState, (after.state ?? {}) as GateState]
  const faults: string[] = []
  // A count has a list of keys; what else is used may be given back.
  if (old.keys !== undefined && (next.used ?? 0) < (old.used ?? 0)) faults.push('its use falls')
  const manualRevision = (before?.manualRevision ?? 0) + (byHand ? 1 : 0)
  if ((after.manualRevision ?? 0) !== manualRevision)
    faults.push(`has the manual revision ${after.manualRevision ?? 0} in place of ${manualRevision}`)
  if (byHand) return faults
  if ((next.granted ?? 0) !== (old.granted ?? 0)) faults.push('has another grant, and nobody gave it')
  const isOpen = old.phase === 'open' && now < (old.openUntilMs ?? 0)
  const isLess = next.phase !== 'open' || (next.openUntilMs ?? 0) < (old.openUntilMs ?? 0)
  if (isOpen && isLess) faults.push(`becomes ${next.phase} before its time`)
  return faults
}
