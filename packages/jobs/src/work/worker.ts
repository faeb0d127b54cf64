/**
 * A worker of a datacenter: claims workflows of jobs from the two queues of the datacenter and runs them. It registers
 * itself by its heartbeat. Imports the library, the records and what drives jobs.
 *
 * Invariants: at most `slots` workflows run at a time. Workflows have slots of their own, apart from timers and reports, so
 * that a deadline fires while every slot is taken. Results that an earlier process of the worker has kept are delivered
 * before the first claim.
 */
import { randomUUID } from 'node:crypto'
import { type Clock, type DurationInput, parseDuration, type PolicyInput } from 'reprise'
import { type Durable, type Ledger, type LedgerError, openDurable } from 'reprise/durable'
import { type Definition, defineQueue, expectOptions, type OptionCheck, serveQueue } from 'reprise/internal'
import { budgetRule } from '../drive/budget-rule.js'
import { WORKER_ROLE } from '../drive/living-datacenters.js'
import type { WakingLedger } from '../drive/waking-ledger.js'
import { WORKFLOW_GROUP } from '../drive/workflow-group.js'
import { fieldsOf, textIn } from '../record/damaged-record.js'
import { STORE_KEY, workQueue } from '../record/names.js'
import { workShape } from '../record/queue-shapes.js'
import { registerDatacenter } from '../submit/known-datacenters.js'
import type { JobHandler } from './job-handler.js'
import { deliverOutbox } from './outbox.js'
import { localAddress, Performer } from './performer.js'
import type { WorkerNote } from './worker-notes.js'

/** Options of `work`. */
export interface WorkOptions {
  /** The datacenter that this worker belongs to. */
  readonly datacenter: string
  /** Workflows that run at a time. @default 4 @example { datacenter: 'eu', slots: 8 } */
  readonly slots?: number
  /**
   * Functions that workflows of jobs name as their `handler`.
   * @default none: only workflows with a document run here
   * @example { datacenter: 'eu', handlers: { probe: async ({ url }) => ({ status: (await fetch(String(url))).status }) } }
   */
  readonly handlers?: Readonly<Record<string, JobHandler>>
  /** Where relative paths in documents begin. @default the current directory @example { datacenter: 'eu', dir: '/srv/probes' } */
  readonly dir?: string
  /** What commands inherit; secrets are taken from it. @default `process.env` @example { datacenter: 'eu', env: { TOKEN: 'x' } } */
  readonly env?: Readonly<Record<string, string | undefined>>
  /**
   * The worker's own ledger, for the steps of documents.
   * One worker at a time has it, and a worker that is started on it again delivers what the one before had finished.
   * @default a SQLite file for the datacenter in `.reprise` in `dir`
   * @example { datacenter: 'eu', localStore: 'sqlite:/var/lib/reprise/worker.db' }
   */
  readonly localStore?: string
  /**
   * How long a worker without a heartbeat is believed to live.
   * @default '15s'
   * @example { datacenter: 'eu', lease: '5s' }
   */
  readonly lease?: DurationInput
  /** What `datacenters` shows. @default not said @example { datacenter: 'eu', version: '1.4.2' } */
  readonly version?: string
  /**
   * Called with what became of results that were kept while the worker was cut off, or by a process before this one.
   * @default none
   * @example { datacenter: 'eu', onNote: ({ message }) => console.error(message) }
   */
  readonly onNote?: (note: WorkerNote) => void
  /**
   * Called if the worker's own ledger cannot be used any more (a full disk). The worker has given back what ran, and claims
   * nothing more.
   * @default the error is thrown where nobody catches it, which ends the process
   * @example { datacenter: 'eu', onFailure: (error) => console.error(error.message) }
   */
  readonly onFailure?: (error: LedgerError) => void
}

/** A worker that runs. */
export interface JobWorker {
  /** Its datacenter. */
  readonly datacenter: string
  /** Claims nothing more; resolves when what runs has ended. @example await worker.drain() */
  drain(): Promise<void>
  /** Stops what runs, which other workers take over without a charge. @example await worker.close() */
  close(): Promise<void>
}

const isText: OptionCheck[0] = (value) => typeof value === 'string' && value !== ''
const isObject: OptionCheck[0] = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
const isFunction: OptionCheck[0] = (value) => typeof value === 'function'
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/

const CHECKS: Readonly<Record<keyof WorkOptions, OptionCheck>> = {
  datacenter: [(value) => typeof value === 'string' && NAME.test(value), "the name of a datacenter, such as 'eu'"],
  slots: [(value) => Number.isSafeInteger(value) && (value as number) >= 1, 'a whole number of 1 or more, such as 8'],
  handlers: [isObject, 'an object with a function for each name'],
  dir: [isText, 'a path'],
  env: [isObject, 'an object with a text for each variable'],
  localStore: [isText, 'an address such as sqlite:./worker.db'],
  // Checked by `openDurable`.
  lease: [() => true, ''],
  version: [isText, 'a text'],
  onNote: [isFunction, 'a function'],
  onFailure: [isFunction, 'a function'],
}

export interface WorkerParts {
  /** Closed by whoever opened it. */
  readonly ledger: Ledger
  readonly waking: WakingLedger
  readonly policy: PolicyInput
  /** Undefined: that of the system. */
  readonly clock: Clock | undefined
}

export async function startWorker(parts: WorkerParts, options: WorkOptions): Promise<JobWorker> {
  const { ledger, clock } = parts
  expectOptions('work', options, CHECKS, { required: ['datacenter'] })
  const { datacenter, slots = 4, lease = '15s', version } = options
  await registerDatacenter(ledger, datacenter)
  const worker = new Worker(parts, options, await idOfStore(ledger))
  try {
    const local = await worker.performer.openEarly()
    const identity = { role: WORKER_ROLE, site: datacenter, ...(version !== undefined && { version }) }
    const durable = await openDurable(ledger, { concurrency: slots, lease, identity, ...(clock && { clock }) })
    await worker.begin(durable, local)
    return worker
  } catch (error) {
    await worker.close()
    throw error
  }
}

/** Made by the first worker of the store. */
async function idOfStore(ledger: Ledger): Promise<string> {
  return ledger.transact({ tasks: [], gates: [STORE_KEY] }, (view) => {
    const gate = view.gate(STORE_KEY)
    if (gate !== undefined) return { result: textIn(fieldsOf(gate.state ?? undefined, STORE_KEY), 'id', STORE_KEY) }
    const id = randomUUID()
    return { gates: [{ key: STORE_KEY, kind: 'record', state: { id } }], result: id }
  })
}

/** The longest time that Node's timers take. */
const MAX_TIMER_MS = 2 ** 31 - 1

class Worker implements JobWorker {
  readonly datacenter: string
  readonly performer: Performer
  private readonly parts: WorkerParts
  private readonly options: WorkOptions
  /** The process of a worker that waits for work lives: timers of the durable driver alone do not keep it. */
  private readonly aliveWhileOpen = setInterval(() => undefined, MAX_TIMER_MS)
  private durable: Durable | undefined = undefined
  private failure: LedgerError | undefined = undefined

  constructor(parts: WorkerParts, options: WorkOptions, store: string) {
    const { handlers = {}, dir = process.cwd(), env = process.env, lease = '15s', onNote = () => undefined } = options
    const address = options.localStore ?? localAddress(dir, options.datacenter)
    this.datacenter = options.datacenter
    this.parts = parts
    this.options = options
    this.performer = new Performer({
      ledger: parts.ledger,
      handlers,
      dir,
      env,
      local: { address, store, leaseMs: parseDuration(lease) },
      onNote,
      onLocalFailure: (error) => void this.fail(error),
    })
  }

  async begin(durable: Durable, local: Awaited<ReturnType<Performer['openEarly']>>): Promise<void> {
    const { waking } = this.parts
    this.durable = durable
    const definitions = [false, true].map((isLarge) => this.define(this.datacenter, isLarge))
    if (local !== undefined) {
      const definitionOf = ({
        datacenter,
        queue,
      }: {
        readonly datacenter: string
        readonly queue: string
      }): Definition => this.define(datacenter, queue === workQueue(datacenter, true))
      const { onNote = () => undefined } = this.options
      await deliverOutbox({ local, durable, definitionOf, onNote })
    }
    waking.serve(
      durable,
      definitions.map(({ queue }) => queue),
    )
    for (const definition of definitions) await serveQueue(durable, definition)
  }

  async drain(): Promise<void> {
    await this.durable?.drain()
    await this.performer.settled()
  }

  async close(): Promise<void> {
    clearInterval(this.aliveWhileOpen)
    if (this.durable !== undefined) this.parts.waking.leave(this.durable)
    await this.durable?.close()
    await this.performer.close()
  }

  private define(datacenter: string, isLarge: boolean): Definition {
    const { performer } = this
    return defineQueue({
      ...workShape(datacenter, isLarge, this.parts.policy),
      runClaimed: (input, context, claimed) => performer.perform(input, context, claimed),
      onRecorded: (claimed, isKept) => performer.recorded(claimed, isKept),
      group: WORKFLOW_GROUP,
      allot: budgetRule(this.parts.ledger),
    })
  }

  /** What runs is given back, for other workers; the attempt that met the failure has been refused. */
  private async fail(failure: LedgerError): Promise<void> {
    if (this.failure !== undefined) return
    this.failure = failure
    await this.durable?.stop().catch(() => undefined)
    const tell = this.options.onFailure ?? unhandled
    tell(failure)
  }
}

/** Nobody listens: Node says so, and ends the process with a code that tells. */
function unhandled(failure: LedgerError): void {
  void Promise.reject(failure)
}
