/**
 * A gate: the API of jobs on a server, with whether it lives and its metrics. Any number of gates share a store, and none
 * leads: whatever one accepts is in the store, and any of them answers for it. Imports the server's parts and the jobs.
 */
import { setMaxListeners } from 'node:events'
import type { Jobs } from '@reprise/jobs'
import { JOB_ROUTES, JOB_SCHEMAS, operationsOf, type Route } from '@reprise/jobs/internal'
import type { Json } from 'reprise/durable'
import { createApi, type FetchHandler, type Operation } from './api.js'
import type { Bounds } from './bounds.js'
import { listen, type ListenAddress, type Listening } from './listen.js'
import { metricsPage } from './metrics-page.js'
import { openApi } from './openapi.js'
import { type Perimeter, perimeterOf } from './perimeter.js'
import { SERVER_ROUTES, type ServerOperationName } from './server-routes.js'
import type { Tokens } from './tokens.js'

/** Every route of a gate. */
export const GATE_ROUTES: readonly Route[] = [...SERVER_ROUTES, ...JOB_ROUTES]

export interface GateParts {
  readonly jobs: Jobs
  /** null: everybody who reaches the server may act. */
  readonly tokens: Tokens | null
  /** Whether datacenters and settings may be changed. */
  readonly allowsChanges: boolean
  readonly version: string
  /** A fault of the server or of its store. */
  readonly onFault: (text: string) => void
  readonly bounds?: Partial<Bounds>
}

export interface GatePlace {
  readonly address: ListenAddress
  /** What others call the server; undefined: nobody else does. */
  readonly publicUrl?: URL | undefined
}

/** Serves until it is closed: then what waits is answered, and what is being answered ends. */
export async function serveGate(options: GateParts, { address, publicUrl }: GatePlace): Promise<Listening> {
  const stopping = new AbortController()
  // Every request that is being answered listens, and Node takes more than ten for a leak.
  setMaxListeners(0, stopping.signal)
  const isLoopback = 'socket' in address || isLoopbackHost(address.host)
  const handlerAt = (port: number | undefined): FetchHandler =>
    gateHandler(options, perimeterOf({ port, isLoopback, publicUrl }), stopping.signal)
  const server = await listen(address, handlerAt, options.bounds)
  const close = (): Promise<void> => {
    stopping.abort()
    return server.close()
  }
  return { ...server, close }
}

/** Whether only this machine reaches what listens there. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}

export function gateHandler(options: GateParts, perimeter: Perimeter, stopping: AbortSignal): FetchHandler {
  const { jobs, tokens, allowsChanges, version, onFault, bounds } = options
  const own = serverOperations(jobs, version, stopping)
  const operations = { ...operationsOf(jobs), ...own } as unknown as Readonly<Record<string, Operation>>
  const handling = { tokens, allowsChanges, stopping, onFault, ...(bounds && { bounds }) }
  return createApi({ routes: GATE_ROUTES, operations, perimeter, ...handling })
}

/** How long an answer on readiness holds: anybody may ask, and the store is not asked each time. */
const READY_FOR_MS = 1000
const READY_WITHIN_MS = 5000

function serverOperations(jobs: Jobs, version: string, stopping: AbortSignal): Record<ServerOperationName, Operation> {
  const description = openApi({ routes: GATE_ROUTES, schemas: JOB_SCHEMAS, version })
  const isReady = heldFor(READY_FOR_MS, () => answersWithin(jobs, READY_WITHIN_MS))
  return {
    health: async () => 'ok\n',
    readiness: async () => (!stopping.aborted && (await isReady()) ? 'ok\n' : null),
    metrics: metricsPage(jobs),
    describeApi: async (): Promise<Json> => description,
  }
}

async function answersWithin(jobs: Jobs, ms: number): Promise<boolean> {
  const late = new Promise<boolean>((resolve) => {
    setTimeout(resolve, ms, false).unref()
  })
  const answers = jobs.list({ limit: 1 }).then(
    () => true,
    () => false,
  )
  return Promise.race([answers, late])
}

/** The answer is shared by everybody who asks for it while it is looked for, and for some time after. */
function heldFor<T>(ms: number, look: () => Promise<T>): () => Promise<T> {
  let held: { readonly answer: Promise<T>; readonly untilMs: number } | undefined
  return () => {
    const now = performance.now()
    if (held === undefined || now >= held.untilMs) held = { answer: look(), untilMs: now + ms }
    return held.answer
  }
}
