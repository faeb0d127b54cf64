/**
 * Threads for scripts, kept for the next step of the same module: to start one and to load a module costs some 30 ms, a
 * call a fraction of one. A module that was changed gets a new thread. Imports the worker.
 */
import { statSync } from 'node:fs'
import { type ScriptAnswer, type ScriptCall, ScriptWorker } from './script-worker.js'

/** As many as a map may have run at a time: with fewer, most threads of a larger map would be made for one item each. */
const MAX_IDLE = 64

interface Idle {
  readonly key: string
  readonly worker: ScriptWorker
}

export class ScriptPool {
  /** The longest idle first. */
  #idle: Idle[]
  readonly #running: Set<ScriptWorker>
  readonly #ending: Set<Promise<void>>
  #isClosed: boolean

  constructor() {
    this.#idle = []
    this.#running = new Set()
    this.#ending = new Set()
    this.#isClosed = false
  }

  /** Rejects with what no answer came for: the abort's reason, an error that nobody caught, the end of the thread. */
  async call(file: string, call: ScriptCall): Promise<ScriptAnswer> {
    call.signal.throwIfAborted()
    if (this.#isClosed) throw new Error('scripts are no longer run')
    const { mtimeMs, size } = statSync(file)
    const key = `${file}\n${mtimeMs}\n${size}`
    const worker = this.#take(key) ?? new ScriptWorker(file, call.env)
    this.#running.add(worker)
    let isReusable = false
    try {
      const answer = await worker.call(call)
      // It was told to give up, and has left whatever it was at.
      call.signal.throwIfAborted()
      isReusable = answer.isClean
      return answer
    } finally {
      this.#running.delete(worker)
      if (isReusable && !worker.isEnded && !this.#isClosed) this.#keep({ key, worker })
      else this.#end(worker)
    }
  }

  /** Ends every thread. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { worker } of this.#idle) this.#end(worker)
    this.#idle = []
    for (const worker of this.#running) this.#end(worker)
    await Promise.all(this.#ending)
  }

  #take(key: string): ScriptWorker | undefined {
    this.#idle = this.#idle.filter(({ worker }) => !worker.isEnded)
    const at = this.#idle.findLastIndex((idle) => idle.key === key)
    return at === -1 ? undefined : this.#idle.splice(at, 1)[0]?.worker
  }

  #keep(idle: Idle): void {
    this.#idle.push(idle)
    if (this.#idle.length > MAX_IDLE) this.#end(this.#idle.shift()!.worker)
  }

  #end(worker: ScriptWorker): void {
    const ending = worker.end().finally(() => this.#ending.delete(ending))
    this.#ending.add(ending)
  }
}
