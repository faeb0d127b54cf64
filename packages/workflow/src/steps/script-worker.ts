/**
 * A thread with one module, which it has loaded: it answers one call at a time. Imports Node's threads.
 *
 * Invariants: a call settles exactly once, whatever the script does: return, throw, loop for ever, end its thread. After
 * anything but an ordinary answer the thread is ended and not used again.
 */
import { pathToFileURL } from 'node:url'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { Json } from 'reprise/durable'
import { type ScriptFailure, ScriptExitError, scriptFailure } from './script-error.js'
import { SCRIPT_PROGRAM } from './script-program.js'
import type { Values } from './step-context.js'

export interface ScriptCall {
  /** The export. */
  readonly name: string
  readonly input: Readonly<Record<string, Json>>
  /** What the script may look at beside it; copied when it does. */
  readonly values: Values
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  readonly graceMs: number
  readonly log: (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void | Promise<void>
}

export type ScriptAnswer =
  | { readonly type: 'done'; readonly json: string; readonly isClean: boolean }
  | { readonly type: 'no_json'; readonly problem: string; readonly isClean: boolean }
  | { readonly type: 'no_function'; readonly exports: readonly string[]; readonly isClean: boolean }
  | {
      readonly type: 'failed'
      readonly phase: 'load' | 'run'
      readonly failure: ScriptFailure
      readonly isClean: boolean
    }

interface Output {
  readonly type: 'output'
  readonly stream: 'stdout' | 'stderr'
  readonly bytes: Uint8Array
}

type Message = ScriptAnswer | Output | { readonly type: 'values' }

type Request =
  | ({ readonly type: 'call' } & Pick<ScriptCall, 'name' | 'input' | 'env'>)
  | { readonly type: 'abort' }
  | { readonly type: 'taken' }

interface Current {
  readonly call: ScriptCall
  readonly resolve: (answer: ScriptAnswer) => void
  readonly reject: (error: unknown) => void
}

export class ScriptWorker {
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #valuesPort: MessagePort
  /** 1: the values have been sent. The thread waits for it. */
  readonly #answered: Int32Array
  #current: Current | null
  #isEnded: boolean
  /** Output is taken in order, and each piece waited for. */
  #taking: Promise<void>

  constructor(file: string, env: Readonly<Record<string, string>>) {
    this.#answered = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
    this.#worker = new Worker(SCRIPT_PROGRAM, {
      eval: true,
      name: 'reprise script',
      env,
      workerData: { url: pathToFileURL(file).href },
      // Nothing of it comes out of our own streams, and nothing comes this way: see the program.
      stdout: true,
      stderr: true,
    })
    this.#current = null
    this.#isEnded = false
    this.#taking = Promise.resolve()
    const { port1, port2: port } = new MessageChannel()
    const { port1: valuesPort1, port2: valuesPort } = new MessageChannel()
    this.#port = port1
    this.#valuesPort = valuesPort1
    this.#worker.postMessage({ port, valuesPort, answered: this.#answered }, [port, valuesPort])
    this.#worker.on('error', (error) => this.#end(scriptFailure(error)))
    this.#worker.on('exit', (code) => this.#end(new ScriptExitError(code)))
    this.#port.on('message', (message: Message) => this.#hear(message))
    this.#rest()
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  async call(call: ScriptCall): Promise<ScriptAnswer> {
    const { signal, graceMs, name, input, env } = call
    let timer: NodeJS.Timeout | undefined
    const abort = (): void => {
      this.#send({ type: 'abort' })
      timer = setTimeout(() => this.#end(signal.reason), graceMs)
    }
    this.#worker.ref()
    this.#port.ref()
    try {
      return await new Promise<ScriptAnswer>((resolve, reject) => {
        this.#current = { call, resolve, reject }
        this.#send({ type: 'call', name, input, env })
        if (signal.aborted) abort()
        else signal.addEventListener('abort', abort, { once: true })
      })
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      this.#current = null
      this.#rest()
    }
  }

  /** Resolves when the thread is gone. */
  async end(): Promise<void> {
    this.#isEnded = true
    this.#closePorts()
    await this.#worker.terminate()
  }

  /** An idle thread keeps no process alive. */
  #rest(): void {
    this.#worker.unref()
    this.#port.unref()
  }

  #hear(message: Message): void {
    const current = this.#current
    if (message.type === 'values') return this.#sendValues(current?.call.values ?? {})
    if (message.type !== 'output') {
      // The log has all of it before the step ends.
      void this.#taking.then(() => current?.resolve(message))
      return
    }
    this.#taking = this.#take(this.#taking, message, current)
  }

  /** What a script says after its end belongs to nobody. */
  async #take(before: Promise<void>, { stream, bytes }: Output, current: Current | null): Promise<void> {
    await before
    try {
      await current?.call.log(stream, bytes)
      this.#send({ type: 'taken' })
    } catch (error) {
      this.#end(error)
    }
  }

  #sendValues(values: Values): void {
    this.#valuesPort.postMessage(values, [])
    Atomics.store(this.#answered, 0, 1)
    Atomics.notify(this.#answered, 0)
  }

  #send(message: Request): void {
    this.#port.postMessage(message, [])
  }

  #closePorts(): void {
    this.#port.close()
    this.#valuesPort.close()
  }

  #end(reason: unknown): void {
    const current = this.#current
    this.#current = null
    const isFirst = !this.#isEnded
    this.#isEnded = true
    if (isFirst) {
      this.#closePorts()
      void this.#worker.terminate()
    }
    if (current !== null) void this.#taking.then(() => current.reject(reason))
  }
}
