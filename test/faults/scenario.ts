/**
 * A program with durable tasks of every kind, made to be run twice: once on a ledger that fails, and once more on the
 * healthy one, as somebody would start it again. It does the same both times. Imports sources.
 */
import { virtualClock, type VirtualClock } from 'reprise/testing'
import type { Budget, BudgetRequest, Decision } from '../../packages/reprise/src/core/budget.js'
import { countBudget } from '../../packages/reprise/src/core/budgets/count.js'
import { Durable } from '../../packages/reprise/src/durable/durable.js'
import { ownIdentity } from '../../packages/reprise/src/durable/identity.js'
import type { TaskHandle } from '../../packages/reprise/src/durable/tasks.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { environmentOf } from '../../packages/reprise/src/runtime/executor-options.js'
import type { Start } from '../crash/history.js'
import { turns } from '../durable/process-model.js'
import type { Clock } from 'reprise'

const ATTEMPTS = 3
export const RETRIES = 12
/** The program's tasks by name, with the attempts that each allows. */
export const RUNS = { work: ATTEMPTS, frail: 4, door: 2, free: 2 } as const

const WORK = { attempts: ATTEMPTS, initialDelay: '1s', maxDelay: '4s', jitter: 'full', budget: 'retries' } as const
const FRAIL = {
  attempts: 4,
  initialDelay: '1s',
  jitter: false,
  breaker: { failureThreshold: 2, recoveryTimeout: '5s' },
} as const
/** Begins with its record, since nobody has to be asked. */
const FREE = { attempts: 2, initialDelay: '1s', jitter: false } as const
const DOOR = { attempts: 2, initialDelay: '1s', jitter: false, budget: 'doorkeeper' } as const

/** Everybody waits in line until the program opens. */
class Doorkeeper implements Budget {
  readonly maxParkMs = 600_000
  readonly line: ((grant: Decision) => void)[] = []

  allowAttempt(_request: BudgetRequest): Decision {
    return { allowed: false, reason: 'wait' }
  }

  park(_request: BudgetRequest, wake: (grant: Decision) => void): () => void {
    this.line.push(wake)
    return () => void this.line.splice(this.line.indexOf(wake), 1)
  }
}

/** What an operation of the program's own noted, and how each of its wishes ended. */
export interface Life {
  readonly outcomes: Readonly<Record<string, unknown>>
  readonly hung: readonly string[]
}

export class Program {
  readonly clock: VirtualClock = virtualClock({ startMs: 1_000_000_000 })
  readonly starts: (Start & { readonly run: string })[] = []
  /** The store as it is, for looking at it beside the program. */
  private readonly store: Ledger
  private lives = 0

  constructor(open: (clock: Clock) => Ledger) {
    this.store = open(this.clock)
  }

  get ledger(): Ledger {
    return this.store
  }

  /** One process, from its start to its end; on any error it goes on as well as it can. */
  async live(ledger: Ledger): Promise<Life> {
    const outcomes: Record<string, unknown> = {}
    const hung: string[] = []
    const doorkeeper = new Doorkeeper()
    const attempt = async (name: string, wish: () => Promise<unknown>): Promise<unknown> => {
      const result = await this.settle(wish, doorkeeper)
      if (result === PENDING) hung.push(name)
      else outcomes[name] = result
      return result
    }
    const durable = await attempt('open', () => this.open(ledger, doorkeeper))
    if (!(durable instanceof Durable)) return { outcomes, hung }
    const { work, frail, door, free } = this.define(durable)
    await attempt('resume', () => durable.resume())
    const run = (name: string, id: string, task: TaskHandle<string, unknown>): Promise<unknown> =>
      attempt(name, async () => task.run(id, { id }))
    await Promise.all([
      run('run good', 'good', work),
      run('run second', 'second', work),
      run('run never', 'never', work),
      run('run frail', 'frail', frail),
      run('run door', 'door', door),
      run('run free', 'free', free),
      attempt('start', () => work.start('gone', { id: 'gone' })).then(() =>
        attempt('cancel', () => work.cancel('gone')),
      ),
    ])
    await attempt('reset', () => work.reset('never'))
    await attempt('status', () => work.status('never'))
    // Whoever was told of an error asks again.
    await Promise.all([
      run('again good', 'good', work),
      run('again never', 'never', work),
      run('again free', 'free', free),
    ])
    await attempt('close', () => durable.close())
    return { outcomes, hung }
  }

  private open(ledger: Ledger, doorkeeper: Doorkeeper): Promise<Durable> {
    const budgets = { retries: countBudget({ total: RETRIES }), doorkeeper }
    const environment = environmentOf({ clock: this.clock, budgets, random: () => 0.4 })
    // Each life on a machine of its own: what the second knows of the first is its lease.
    const identity = { ...ownIdentity(), host: `host-${++this.lives}` }
    const onFailure = (): void => undefined
    const settings = { concurrency: 4, leaseMs: 86_400_000, policyChange: 'refuse', identity, onFailure } as const
    return Durable.open(ledger, environment, settings)
  }

  private define(durable: Durable): Record<keyof typeof RUNS, TaskHandle<string, unknown>> {
    const operation = async (id: string, context: { key: string; attempt: number; execution: number }) => {
      const { key: run, attempt, execution } = context
      const generation = (await this.store.get({ scopeKind: 'task', scope: run, id }))?.generation ?? 0
      this.starts.push({ run, task: id, attempt, execution, generation })
      const fails =
        { good: 0, second: 1, never: generation === 1 ? 9 : 0, gone: 9, frail: 9, door: 1, free: 1 }[id] ?? 0
      if (attempt <= fails) throw new Error(`${id} fails at attempt ${attempt}`)
      return `${id} done`
    }
    return {
      work: durable.task('work', WORK, operation),
      frail: durable.task('frail', FRAIL, operation),
      door: durable.task('door', DOOR, operation),
      free: durable.task('free', FREE, operation),
    }
  }

  /** The result or the error of a wish; lets time pass until there is one. */
  private async settle(wish: () => Promise<unknown>, doorkeeper: Doorkeeper): Promise<unknown> {
    let result: unknown = PENDING
    wish().then(
      (value) => void (result = value),
      (error: unknown) => void (result = error),
    )
    for (let look = 0; look < 150; look++) {
      await turns(3)
      if (result !== PENDING) break
      doorkeeper.line.shift()?.({ allowed: true, reason: 'allowed' })
      await this.clock.advance(500)
    }
    return result
  }

  /** Others find the leases of all who were there run out. */
  async expireAll(): Promise<void> {
    for (const owner of await this.store.owners()) await this.store.heartbeat({ ...owner, leaseUntilMs: 0 })
  }
}

const PENDING = Symbol('pending')
