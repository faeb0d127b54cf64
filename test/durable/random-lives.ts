/**
 * A random life of a few tasks and the processes that run them: started, failed, succeeded, killed, stopped, paused, taken
 * over; and of an operator who grants, trips and resets. What really ran is noted by the operations themselves. Imports the model of processes and the checkers.
 */
import { isRepriseError } from 'reprise'
import { seededRandom } from 'reprise/testing'
import { countBudget } from '../../packages/reprise/src/core/budgets/count.js'
import { grantBudget, resetBreaker, tripBreaker } from '../../packages/reprise/src/durable/gate-control.js'
import type { TaskHandle } from '../../packages/reprise/src/durable/tasks.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { faultsOf, scopeOfTasks, type Start } from '../crash/history.js'
import { watched } from './watched-ledger.js'
import { deferred, type Host, turns, ProcessModel } from './process-model.js'

const ATTEMPTS = 3
const TOTAL = 6
const POLICY = {
  attempts: ATTEMPTS,
  initialDelay: '1s',
  maxDelay: '4s',
  jitter: 'full',
  budget: 'shared',
  breaker: { failureThreshold: 4, recoveryTimeout: '3s' },
} as const

export type Step =
  | { readonly type: 'start'; readonly task: number }
  | { readonly type: 'end'; readonly which: number; readonly ok: boolean }
  | { readonly type: 'pass'; readonly ms: number }
  | { readonly type: 'open' | 'kill' | 'close' | 'pause' | 'resume'; readonly host: number }
  | { readonly type: 'cancel' | 'hasten' | 'reset'; readonly task: number }
  | { readonly type: 'grant'; readonly amount: number }
  | { readonly type: 'trip' | 'mend' }

interface Process extends Host {
  readonly handle: TaskHandle<number, unknown>
  paused: boolean
}

interface Noted extends Start {
  readonly generation: number
}

interface Flight {
  resolve(value: unknown): void
  reject(error: unknown): void
}

export class RandomLives {
  readonly model: ProcessModel
  readonly faults: string[] = []
  private readonly starts: Noted[] = []
  private readonly flights: Flight[] = []
  private readonly processes: Process[] = []
  private readonly random = seededRandom(7)
  private readonly slow: boolean
  /** What the budget has before anything is granted. */
  private readonly total: number
  private calm = false
  private granted = 0

  constructor(spoil: (ledger: Ledger) => Ledger = (ledger) => ledger, slow = false, total = TOTAL) {
    this.slow = slow
    this.total = total
    this.model = new ProcessModel((ledger) => spoil(watched(ledger, this.faults)))
  }

  /** All that is wrong with the life and with what the ledger says of it. */
  async live(steps: readonly Step[], pauses: readonly number[] = [4]): Promise<string[]> {
    await this.open()
    for (const [index, step] of steps.entries()) {
      await this.take(step)
      await turns(pauses[index % pauses.length])
    }
    await this.comeToRest()
    const expected = { attempts: ATTEMPTS, finished: true }
    return [
      ...this.faults,
      ...(await faultsOf(this.model.ledger, scopeOfTasks('t'), this.starts, expected)),
      ...(await this.overuse()),
    ]
  }

  private async open(): Promise<void> {
    const { random, slow, total } = this
    const budgets = { shared: countBudget({ total }) }
    const host = await this.model.open({ concurrency: 2, budgets, random, slow })
    const handle = host.durable.task<number, unknown>('t', POLICY, async (_input, context) => {
      const { taskId, attempt, execution } = context
      const task = await this.model.task('t', taskId)
      this.starts.push({ task: taskId, attempt, execution, generation: task.generation })
      if (this.calm) return 'calm'
      const flight = deferred<unknown>()
      this.flights.push(flight)
      return flight.promise
    })
    this.processes.push({ ...host, handle, paused: false })
  }

  private async take(step: Step): Promise<void> {
    if (step.type === 'pass') return this.model.clock.advance(step.ms)
    if (step.type === 'open') return this.processes.length < 4 ? this.open() : undefined
    if (step.type === 'end') return this.end(step.which, step.ok)
    if ('host' in step) return this.strike(step.type, step.host)
    if (!('task' in step)) return this.operate(step).catch(refused)
    const awake = this.processes.find(({ paused }) => !paused)
    if (awake === undefined) return
    const id = `i${step.task}`
    const { handle } = awake
    if (step.type === 'start') await handle.start(step.task, { id })
    else if (step.type === 'cancel') await handle.cancel(id).catch(refused)
    else if (step.type === 'hasten') await handle.retryNow(id).catch(refused)
    else await handle.reset(id).catch(refused)
  }

  /** From outside: none of the processes is asked. */
  private async operate(step: Extract<Step, { type: 'grant' | 'trip' | 'mend' }>): Promise<void> {
    const { ledger } = this.model
    if ('amount' in step) {
      await grantBudget(ledger, 'shared', { amount: step.amount, reason: 'a story' })
      this.granted += step.amount
    } else if (step.type === 'trip') await tripBreaker(ledger, 't', { reason: 'a story' })
    else await resetBreaker(ledger, 't', { reason: 'a story' })
  }

  private end(which: number, ok: boolean): void {
    const [flight] = this.flights.splice(which % Math.max(1, this.flights.length), 1)
    if (ok) flight?.resolve('fine')
    else flight?.reject(new Error('no'))
  }

  private async strike(type: 'kill' | 'close' | 'pause' | 'resume', which: number): Promise<void> {
    const index = which % Math.max(1, this.processes.length)
    const target = this.processes[index]
    if (target === undefined) return
    if (type === 'resume') {
      if (!target.paused) await target.durable.resume()
      return
    }
    if (type === 'pause') {
      // It stands still for longer than its lease; the next one wakes it.
      if (target.paused) target.line.release()
      else target.line.hold()
      target.paused = !target.paused
      await target.expire()
      return
    }
    this.processes.splice(index, 1)
    if (type === 'close' && !target.paused) await target.durable.close()
    else await target.kill()
  }

  private async comeToRest(): Promise<void> {
    this.calm = true
    for (const one of this.processes.splice(0)) {
      const { paused, line, durable } = one
      if (paused) line.release()
      await turns()
      if (paused) await one.kill()
      else await durable.close()
    }
    await this.open()
    const [last] = this.processes as [Process]
    await last.durable.resume()
    await this.model.clock.advance(60_000)
    for (const flight of this.flights.splice(0)) flight.resolve('late')
    // A slow ledger needs its turns, and a retry its time; what has not ended by then never will.
    for (let round = 0; round < 10 && (await this.unfinished()); round++) {
      await turns()
      await this.model.clock.advance(60_000)
    }
    await last.durable.close()
  }

  private async unfinished(): Promise<boolean> {
    return (
      (await this.model.ledger.list({ scopeKind: 'task', scope: 't', statuses: ['waiting', 'running', 'parked'] }))
        .length > 0
    )
  }

  /** I4 */
  private async overuse(): Promise<string[]> {
    const gate = (await this.model.ledger.gates()).find(({ key }) => key === 'budget:shared')
    const { used, granted = 0 } = (gate?.state ?? { used: 0 }) as { used: number; granted?: number }
    const retries = new Set<string>()
    for (const { task, attempt, generation } of this.starts)
      if (attempt > 1) retries.add(`${task} ${generation} ${attempt}`)
    const total = this.total + this.granted
    const faults = used > total ? [`the budget of ${total} was used ${used} times`] : []
    if (granted !== this.granted) faults.push(`${this.granted} were granted, and the ledger has ${granted}`)
    return retries.size > used ? [...faults, `${retries.size} retries ran, and ${used} were charged`] : faults
  }
}

function refused(error: unknown): void {
  if (!isRepriseError(error, 'task_refused') && !isRepriseError(error, 'gate_refused')) throw error
}
