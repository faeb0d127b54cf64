/**
 * Groups of runs: of the runs that name one, one is conducted at a time, in whichever process. Imports the library, the plan
 * and its own layer.
 *
 * Invariants: who has the group stands in one row, which is locked by whoever reads it to take it; so of two that come at
 * once, one takes it. A process that is gone holds nothing. Its run loses its fence with the group: should the process only
 * have been stopped, it writes nothing more of the run.
 */
import { type Durable, type Json, type Ledger, TaskRefusedError } from 'reprise/durable'
import { livingOwners, ownerOf } from 'reprise/internal'
import type { Plan } from '../plan/plan.js'
import { fillText } from '../values/template.js'
import { SetupError } from '../values/setup-error.js'
import type { RunEnd } from './conductor.js'
import { cancelHolder, isBeforeItsEnd } from './control.js'
import { faultsOfGroup, GROUP_CURE, groupKey } from './group-record.js'
import type { RunEvent } from './run-event.js'
import { Scope } from './scope.js'
import type { StateDirectory } from '../state/state-directory.js'

/** How soon a run that waits for its group looks again. */
const LOOK_EVERY_MS = 300
const MAX_NAME = 200

/** A run that has the group, and the process that conducts it. */
interface Holder {
  readonly run: string
  readonly owner: string
  /** When it first asked for the group, by the ledger's clock; absent in older records. */
  readonly cameAtMs?: number
}

/** The run that wants its group. */
export interface GroupMember {
  readonly run: string
  readonly params: Readonly<Record<string, Json>>
  /** The run is taken from a process that may live. */
  readonly isForced?: boolean
}

export interface GroupEntry extends GroupMember {
  readonly ledger: Ledger
  readonly durable: Durable
  readonly plan: Plan
  readonly state: StateDirectory
  readonly settings: {
    readonly store: string | Durable
    readonly env: Readonly<Record<string, string>>
    readonly signal?: AbortSignal
  }
  readonly tell: (event: RunEvent) => void
  /** Nothing secret is recorded. */
  readonly mask: (value: Json) => Json
}

const STOPPED: RunEnd = { state: 'interrupted', stopReason: null, failedStep: null, undecided: [] }

/** Does something while the run has its group; refused or waited for while another one has it. */
export async function inGroup(entry: GroupEntry, act: () => Promise<RunEnd>): Promise<RunEnd> {
  const { concurrency } = entry.plan
  if (concurrency === null) return act()
  const group = new Group(entry, groupName(entry, concurrency.group))
  if (!(await group.enter(concurrency.onConflict))) return STOPPED
  try {
    return await act()
  } finally {
    // A ledger that fails is told to whoever writes next; with this process the group is free.
    await group.leave().catch(() => undefined)
  }
}

function groupName({ plan, params, settings, run, mask }: GroupEntry, text: string): string {
  const { values } = new Scope({ runId: run, workflow: plan.name, params, env: settings.env })
  const name = mask(fillText(text, values).trim()) as string
  if (/[\0\p{Surrogate}]/u.test(name)) {
    const what = 'holds a NUL character or half a character, which no store keeps'
    throw new SetupError('unusable_value', `\`concurrency\`: the name of the group, ${JSON.stringify(name)}, ${what}`)
  }
  if (name !== '' && name.length <= MAX_NAME) return name
  throw new SetupError(
    'unusable_value',
    `\`concurrency\`: the name of the group has ${name.length} characters, not 1 to ${MAX_NAME}`,
  )
}

class Group {
  private readonly entry: GroupEntry
  private readonly name: string
  private readonly key: string
  /** This process. */
  private readonly owner: string

  constructor(entry: GroupEntry, name: string) {
    this.entry = entry
    this.name = name
    this.key = groupKey(name)
    this.owner = ownerOf(entry.durable)
  }

  /** False if the process was told to stop while it waited. */
  async enter(onConflict: 'refuse' | 'wait' | 'cancel_old'): Promise<boolean> {
    const { settings, ledger, run, tell } = this.entry
    const met = new Set<string>()
    const cameAtMs = await ledger.now()
    for (;;) {
      const seen = await this.read()
      const holder = await this.heldBy(seen)
      if (holder === undefined) {
        if (await this.take(seen, cameAtMs)) return true
        continue
      }
      if (onConflict === 'refuse') throw this.refusal(holder)
      if (!met.has(holder.run)) {
        met.add(holder.run)
        tell({ type: 'group_waiting', timeMs: Date.now(), run, group: this.name, holder: holder.run })
      }
      if (onConflict === 'cancel_old') await this.cancelOld(holder, cameAtMs)
      if (!(await pause(settings.signal))) return false
    }
  }

  /** What was never taken, or is another's by now, stays as it is. */
  async leave(): Promise<void> {
    const { owner } = this
    const { ledger, run } = this.entry
    await ledger.transact({ tasks: [], gates: [this.key] }, (view) => {
      const now = holderIn(this.name, view.gate(this.key)?.state)
      if (now?.run !== run || now.owner !== owner) return { result: undefined }
      return { gates: [this.record(null)], result: undefined }
    })
  }

  /** Called at every look: a run that has just taken the group may have no record yet. */
  private async cancelOld(holder: Holder, cameAtMs: number): Promise<void> {
    const { ledger, settings, state, run } = this.entry
    if (holder.run === run || (holder.cameAtMs ?? 0) > cameAtMs) return
    const record = await ledger.run(holder.run)
    if (record !== undefined && isBeforeItsEnd(record)) await cancelHolder(settings.store, holder.run, state)
  }

  private read(): Promise<Holder | undefined> {
    const { ledger } = this.entry
    return ledger.transact({ tasks: [], gates: [this.key] }, (view) => {
      return { result: holderIn(this.name, view.gate(this.key)?.state) }
    })
  }

  /** The run that has the group, if its process lives; undefined if the group can be taken. */
  private async heldBy(seen: Holder | undefined): Promise<Holder | undefined> {
    const { ledger, run, isForced = false } = this.entry
    if (seen === undefined || (seen.run === run && isForced)) return undefined
    return (await livingOwners(ledger)).has(seen.owner) ? seen : undefined
  }

  /** False if somebody has taken it since it was read. */
  private take(seen: Holder | undefined, cameAtMs: number): Promise<boolean> {
    const { owner } = this
    const { ledger, run } = this.entry
    const lost = seen !== undefined && seen.run !== run ? [seen.run] : []
    return ledger.transact({ tasks: [], runs: lost, gates: [this.key] }, (view) => {
      const now = holderIn(this.name, view.gate(this.key)?.state)
      if (now?.run !== seen?.run || now?.owner !== seen?.owner) return { result: false }
      const before = lost.flatMap((id) => view.run(id) ?? [])
      const fenced = before.filter((one) => one.status === 'running' && one.owner === seen?.owner)
      const runs = fenced.map((one) => ({ run: { ...one, fence: one.fence + 1 } }))
      return { gates: [this.record({ run, owner, cameAtMs })], runs, result: true }
    })
  }

  private record(state: Holder | null): { key: string; kind: 'record'; state: Json } {
    return { key: this.key, kind: 'record', state: { holder: state === null ? null : { ...state } } }
  }

  private refusal({ run }: Holder): TaskRefusedError {
    return new TaskRefusedError('locked', `Group ${this.name} is held by run ${run}, which is being executed`)
  }
}

/** Refused if the record is damaged: whether a run has the group cannot be told. */
function holderIn(group: string, state: Json | undefined): Holder | undefined {
  if (state === undefined) return undefined
  const faults = faultsOfGroup({ key: groupKey(group), state })
  if (faults.length > 0) {
    const what = `The record of group ${group} is invalid (${faults.join('; ')}); nothing was changed: ${GROUP_CURE}`
    throw new TaskRefusedError('state_refused', what)
  }
  return (state as unknown as { readonly holder: Holder | null }).holder ?? undefined
}

/** False if the signal came. */
function pause(signal: AbortSignal | undefined): Promise<boolean> {
  if (signal?.aborted === true) return Promise.resolve(false)
  return new Promise((resolve) => {
    const end = (isOver: boolean): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      resolve(isOver)
    }
    const onAbort = (): void => end(false)
    const timer = setTimeout(() => end(true), LOOK_EVERY_MS)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
