/**
 * A thread that renews this process's lease while the event loop is blocked, and stops when it has been blocked for a
 * whole lease: a process that does nothing but wait in a loop must lose its tasks, one that computes for a while must
 * not. As long as the event loop renews the lease by itself the thread only looks at the time: it has no connection, and
 * writes nothing. Imports the ledger's port; Node's threads when one is started.
 *
 * Invariants: the thread changes a row that is there, and never makes one. It does not keep the process alive.
 */
import type { Worker } from 'node:worker_threads'
import type { ThreadHeartbeat } from '../ledger/ledger.js'

/** What both threads see: the times of these, in nanoseconds of the system's monotonic clock. */
const [LOOP_TURNED, LOOP_RENEWED, THREAD_RENEWED] = [0, 1, 2]

/** The event loop says that it turns, and the thread looks, each tenth of a lease. */
const LOOKS_PER_LEASE = 10
/** The event loop renews at a third of a lease: after this part of one the thread does it instead. */
const OVERDUE = 0.4
const LEAST_LOOK_MS = 20

/** In megabytes. The thread holds a driver and a timer. */
const LIMITS = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 2 }

/**
 * Text, because a thread begins with a file or a text, and a bundle has no file for it. A renewal that fails is tried
 * again at the next look: the database may be busy, or be gone for a moment.
 */
const program = (connect: string): string => `
'use strict'
const { parentPort, workerData } = require('node:worker_threads')
// Drivers that are experimental say so in every thread.
process.emitWarning = () => {}
const { shared, owner, leaseMs, lookMs, overdueMs, data } = workerData
const times = new BigInt64Array(shared)
const sinceMs = (index) => Number(process.hrtime.bigint() - Atomics.load(times, index)) / 1e6
const renew = (() => {${connect}})()
let isRenewing = false
// Between two calls of the driver: one that is cut off in the middle may take the whole process with it.
parentPort.once('message', () => process.exit())
setInterval(async () => {
  if (isRenewing || sinceMs(${LOOP_TURNED}) >= leaseMs) return
  if (Math.min(sinceMs(${LOOP_RENEWED}), sinceMs(${THREAD_RENEWED})) < overdueMs) return
  isRenewing = true
  const startedAt = process.hrtime.bigint()
  try {
    await renew(owner, leaseMs)
    Atomics.store(times, ${THREAD_RENEWED}, startedAt)
  } catch {
  } finally {
    isRenewing = false
  }
}, lookMs)
`

interface RunningThread {
  readonly worker: Worker
  /** Resolves when it has ended, by an error too. */
  readonly gone: Promise<void>
}

export class HeartbeatThread {
  private readonly times = new BigInt64Array(new SharedArrayBuffer(3 * BigInt64Array.BYTES_PER_ELEMENT))
  private readonly timer: NodeJS.Timeout
  private readonly starting: Promise<RunningThread | undefined>
  private isEnded = false

  /** Where no thread can be started, or it cannot load what it needs, nothing is said: the event loop renews as before. */
  constructor(heartbeat: ThreadHeartbeat, owner: string, leaseMs: number) {
    const lookMs = Math.max(LEAST_LOOK_MS, leaseMs / LOOKS_PER_LEASE)
    this.turned()
    this.note(LOOP_RENEWED)
    this.timer = setInterval(() => this.turned(), lookMs)
    this.timer.unref()
    const { buffer: shared } = this.times
    const workerData = { shared, owner, leaseMs, lookMs, overdueMs: leaseMs * OVERDUE, data: heartbeat.data }
    this.starting = this.start(program(heartbeat.connect), workerData)
  }

  /** The event loop has renewed the lease itself, as of so long ago. */
  renewed(agoMs: number): void {
    this.note(LOOP_RENEWED, agoMs)
  }

  /** Since the thread renewed the lease; infinite if it never had to. */
  get silentMs(): number {
    const renewedAt = Atomics.load(this.times, THREAD_RENEWED)
    return renewedAt === 0n ? Infinity : Number(process.hrtime.bigint() - renewedAt) / 1e6
  }

  /** Resolves when nothing of it is left, its connection neither. */
  async end(): Promise<void> {
    this.isEnded = true
    clearInterval(this.timer)
    const thread = await this.starting
    if (thread === undefined) return
    thread.worker.ref()
    thread.worker.postMessage('end', [])
    await thread.gone
  }

  private async start(text: string, workerData: object): Promise<RunningThread | undefined> {
    try {
      const { Worker: Thread } = await import('node:worker_threads')
      if (this.isEnded) return undefined
      // Without the loaders that this process was started with: the text needs none, and they take long to load.
      const worker = new Thread(text, {
        eval: true,
        name: 'reprise heartbeat',
        workerData,
        execArgv: [],
        resourceLimits: LIMITS,
      })
      worker.on('error', () => clearInterval(this.timer))
      const gone = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
      worker.unref()
      return { worker, gone }
    } catch {
      clearInterval(this.timer)
      return undefined
    }
  }

  private turned(): void {
    this.note(LOOP_TURNED)
  }

  private note(index: number, agoMs = 0): void {
    Atomics.store(this.times, index, process.hrtime.bigint() - BigInt(Math.round(agoMs * 1e6)))
  }
}
