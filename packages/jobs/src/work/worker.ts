/**
 * A worker of a datacenter: claims workflows of jobs from the two queues of the datacenter and runs them. It registers
 * itself by its heartbeat. Imports the library, the records and what drives jobs.
 *
 * Invariants: at most `slots` workflows run at a time. Workflows have slots of their own, apart from timers and reports, so
 * that a deadline fires while every slot is taken.
 */
import path from 'node:path'
import type { DurationInput, PolicyInput } from 'reprise'
import { type Durable, type DurableContext, type Json, type Ledger, openDurable } from 'reprise/durable'
import { type Definition, defineQueue, expectOptions, type OptionCheck, serveQueue } from 'reprise/internal'
import { budgetRule } from '../drive/budget-rule.js'
import { WORKER_ROLE } from '../drive/living-datacenters.js'
import type { WakingLedger } from '../drive/waking-ledger.js'
import { WORKFLOW_GROUP } from '../drive/workflow-group.js'
import { workShape } from '../record/queue-shapes.js'
import { workflowInputOf } from '../record/workflow-record.js'
import { paramsAt } from '../rules/job-workflow.js'
import { registerDatacenter } from '../submit/known-datacenters.js'
import { JobDefinitions } from './job-definitions.js'
import { type JobHandler, type JobOutputs, outputsOf, RefusedError, UnfitWorkflowError } from './job-handler.js'
import { DocumentRunner } from './run-document.js'

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
   * @default a SQLite file in `.reprise` in `dir`
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
}

export interface WorkerParts {
  /** Closed by whoever opened it. */
  readonly ledger: Ledger
  readonly waking: WakingLedger
  readonly policy: PolicyInput
}

export async function startWorker({ ledger, waking, policy }: WorkerParts, options: WorkOptions): Promise<JobWorker> {
  expectOptions('work', options, CHECKS, { required: ['datacenter'] })
  const { datacenter, slots = 4, lease = '15s', version } = options
  const performer = new Performer(ledger, options)
  const identity = { role: WORKER_ROLE, site: datacenter, ...(version !== undefined && { version }) }
  await registerDatacenter(ledger, datacenter)
  const durable = await openDurable(ledger, { concurrency: slots, lease, identity })
  const allot = budgetRule(ledger)
  const define = (isLarge: boolean): Definition =>
    defineQueue({
      ...workShape(datacenter, isLarge, policy),
      run: (input: Json, context: DurableContext) => performer.perform(input, context),
      group: WORKFLOW_GROUP,
      allot,
    })
  const definitions = [false, true].map(define)
  waking.serve(
    durable,
    definitions.map(({ queue }) => queue),
  )
  for (const definition of definitions) await serveQueue(durable, definition)
  return workerOf(datacenter, durable, performer, waking)
}

/** The longest time that Node's timers take. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** The process of a worker that waits for work lives: timers of the durable driver alone do not keep it. */
function workerOf(datacenter: string, durable: Durable, performer: Performer, waking: WakingLedger): JobWorker {
  const aliveWhileOpen = setInterval(() => undefined, MAX_TIMER_MS)
  return {
    datacenter,
    drain: () => durable.drain(),
    close: async () => {
      clearInterval(aliveWhileOpen)
      waking.leave(durable)
      await durable.close()
      await performer.close()
    },
  }
}

/** Runs one attempt of a workflow. */
class Performer {
  private readonly definitions: JobDefinitions
  private readonly documents: DocumentRunner
  private readonly handlers: Readonly<Record<string, JobHandler>>

  constructor(ledger: Ledger, { handlers = {}, dir = process.cwd(), env = process.env, localStore }: WorkOptions) {
    this.definitions = new JobDefinitions(ledger)
    this.handlers = handlers
    const ownStore = `sqlite:${path.join(dir, '.reprise', 'jobs-worker.db')}`
    this.documents = new DocumentRunner({ dir, env, localStore: localStore ?? ownStore })
  }

  async perform(input: Json, context: DurableContext): Promise<JobOutputs> {
    const { taskId: workflow, attempt, generation, idempotencyKey, signal } = context
    const { job: jobId, datacenter } = workflowInputOf({ input, scope: '', id: workflow })
    const { request } = await this.definitions.get(jobId)
    const found = request.workflows.find(({ name }) => name === workflow)
    if (found === undefined) throw new UnfitWorkflowError(`Job ${jobId} has no workflow ${workflow}`)
    const params = paramsAt(found, datacenter)
    const about = { jobId, datacenter, workflow, attempt, signal, idempotencyKey }
    const { source } = found
    if (source.kind === 'document') return outputsOf(await this.documents.run(source, params, { ...about, generation }))
    const handler = Object.hasOwn(this.handlers, source.handler) ? this.handlers[source.handler] : undefined
    if (handler === undefined) throw new RefusedError(`This worker has no handler ${source.handler}`)
    return outputsOf(await handler(params, about))
  }

  close(): Promise<void> {
    return this.documents.close()
  }
}
