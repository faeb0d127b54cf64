/**
 * A ledger and the lives of the processes that work on it, until all tasks have ended; then all promises are checked.
 * Imports the processes, the plan, the store and the checkers.
 */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { normalizePolicy } from '../../packages/reprise/src/core/normalize.js'
import type { Json, TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { crowdFaults, groupFaults } from './crowd-history.js'
import { gateFaults, type OpenSpan, slotFaults } from './gate-history.js'
import { type Expectation, faultsOf, scopeOfTasks, type Start } from './history.js'
import { ATTEMPTS, failuresOf, GATE_RULES, KINDS, type LoadPlan, type Noted } from './load-plan.js'
import { LoadProcess, type Program } from './processes.js'
import { faultsBetween, flightFaults, openSpans, type Snapshot, snapshotOf } from './snapshots.js'
import { sqliteStore, type Store } from './store.js'

export interface ScenarioOptions {
  readonly program: Program
  readonly directory: string
  readonly name: string
  readonly seed: number
  readonly tasksOfKind?: number
  readonly leaseMs?: number
  readonly workMs?: number
  /** A SQLite file when absent. */
  readonly store?: Store
}

export interface Findings {
  readonly faults: readonly string[]
  readonly tasks: number
  readonly starts: number
  /** Attempts that were in flight at a kill, and ran again. */
  readonly again: number
  /** Gates that were changed by hand. */
  readonly changes: number
  /** How often each point was passed by a process that ended by itself. */
  readonly passed: Readonly<Record<string, number>>
}

type StartLine = Extract<Noted, { type: 'start' }>

export class Scenario {
  /** Of the ledger, if it is one. */
  readonly file: string
  readonly store: Store
  readonly journal: string
  readonly faults: string[] = []
  private readonly options: ScenarioOptions
  private readonly spans: OpenSpan[] = []
  private last: Snapshot | undefined = undefined
  private lives = 0

  constructor(options: ScenarioOptions) {
    this.options = options
    this.file = path.join(options.directory, `${options.name}.db`)
    this.store = options.store ?? sqliteStore(this.file)
    this.journal = path.join(options.directory, `${options.name}.journal`)
  }

  start(given: Partial<LoadPlan> = {}): LoadProcess {
    const { program, seed, tasksOfKind = 5, leaseMs = 2000, workMs = 12 } = this.options
    const { journal } = this
    const { address } = this.store
    const life = seed * 1000 + this.lives++
    return new LoadProcess(program, {
      address,
      journal,
      seed,
      life,
      tasksOfKind,
      leaseMs,
      workMs,
      calm: false,
      ...given,
    })
  }

  /** Nobody is alive: what is recorded now must be kept. `alone`: there never were two at a time. */
  async look(alone = false): Promise<void> {
    if (!(await this.store.isThere())) return
    const ledger = await this.store.open()
    try {
      const snapshot = await snapshotOf(ledger)
      if (this.last !== undefined) this.faults.push(...faultsBetween(this.last, snapshot))
      if (alone) this.faults.push(...flightFaults(snapshot, 'budget:line', 'lined'))
      this.faults.push(...slotFaults(snapshot.gates, snapshot.tasks))
      this.spans.push(...openSpans(snapshot))
      this.last = snapshot
    } finally {
      await ledger.close()
    }
  }

  noted(): Noted[] {
    if (!existsSync(this.journal)) return []
    const lines = readFileSync(this.journal, 'utf8').split('\n').filter(Boolean)
    return lines.map((line) => JSON.parse(line) as Noted)
  }

  async check(finished = true): Promise<Findings> {
    await this.look()
    const noted = this.noted()
    const starts = noted.filter((line) => line.type === 'start')
    for (const line of noted) if (line.type === 'fault') this.faults.push(line.what)
    this.faults.push(...(await this.store.damage()))
    const ledger = await this.store.open()
    try {
      for (const { name, policy, onInterrupt, allot, whenDenied } of KINDS) {
        const expected: Expectation = {
          attempts: ATTEMPTS,
          finished,
          runsOnce: onInterrupt === 'fail',
          onInterrupt: onInterrupt === 'fail' ? undefined : (onInterrupt ?? 'rerun'),
          isAllotted: allot !== undefined,
          isHeld: whenDenied === 'hold',
          policy: normalizePolicy(policy).policy,
          outcomeOf: ({ input }: TaskRecord, number: number) => this.outcomeOf(input as number, number),
          ...acknowledged(noted, name),
        }
        const faults = await faultsOf(ledger, scopeOfTasks(name), startsOf(starts, name), expected)
        this.faults.push(...faults.map((fault) => `${name}/${fault}`))
      }
      this.faults.push(...(await gateFaults(ledger, GATE_RULES, this.spans)))
      for (const kind of KINDS) this.faults.push(...(await crowdFaults(ledger, kind)))
      this.faults.push(...(await groupFaults(ledger)))
      const tasks = (await ledger.list({})).length
      const numbers = new Set(
        starts.map(({ run, task, generation, attempt }) => [run, task, generation, attempt].join()),
      )
      const changes = (await ledger.events(0, 10_000, { scopeKind: '', scope: '' })).length
      const passed = noted.findLast((line) => line.type === 'passed')?.points ?? {}
      return { faults: this.faults, tasks, starts: starts.length, again: starts.length - numbers.size, changes, passed }
    } finally {
      await ledger.close()
    }
  }

  private outcomeOf(task: number, number: number): 'success' | 'failure' {
    return number <= failuresOf(this.options.seed, task) ? 'failure' : 'success'
  }
}

function startsOf(starts: readonly StartLine[], name: string): Start[] {
  return starts.filter(({ run }) => run === name)
}

function acknowledged(
  noted: readonly Noted[],
  name: string,
): { readonly created: string[]; readonly results: Map<string, Json> } {
  const created: string[] = []
  const results = new Map<string, Json>()
  for (const line of noted) {
    if (line.type === 'created' && line.run === name) created.push(line.task)
    // A result that a person said was there has no value.
    if (line.type === 'result' && line.run === name) results.set(line.task, line.value as Json)
  }
  return { created, results }
}
