// @ts-check
/**
 * Child processes as their parent has them: started with a channel, listened to, waited for, and killed whatever
 * happens to the parent. Imports nothing that is not part of Node.
 */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set()
process.on('exit', killAll)

export function killAll() {
  for (const child of running) child.kill('SIGKILL')
}

/** @typedef {{ type: string, [field: string]: unknown }} Message */

export class Child {
  /** @type {string} */
  name
  /** How it ended: rejects if it ended with anything but 0. @type {Promise<void>} */
  ended
  /** @type {import('node:child_process').ChildProcess} */
  #process
  #stderr = ''
  #killedFor = ''

  /** @param {string} program a file of this directory @param {object} given */
  constructor(program, given) {
    this.name = program
    this.#process = fork(fileURLToPath(new URL(program, import.meta.url)), [JSON.stringify(given)], {
      execArgv: [],
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    })
    this.#process.stderr?.on('data', (chunk) => (this.#stderr += String(chunk)))
    running.add(this.#process)
    this.ended = this.#end()
    // Whoever waits for a message hears of the end as well.
    this.ended.catch(() => undefined)
  }

  get pid() {
    return this.#process.pid
  }

  /** @param {Message} message */
  tell(message) {
    // A child that cannot be told has ended, and how is what its end says.
    this.#process.send(message, () => undefined)
  }

  /**
   * The next message of this type.
   * @param {string} type @returns {Promise<Message>}
   */
  hear(type) {
    const message = new Promise((resolve) => {
      this.#process.on('message', (/** @type {Message} */ heard) => {
        if (heard.type === type) resolve(heard)
      })
    })
    const silence = this.ended.then(() => {
      throw new Error(`${this.name} ended without a word of ${type}.`)
    })
    silence.catch(() => undefined)
    return /** @type {Promise<Message>} */ (Promise.race([message, silence]))
  }

  /** @param {string} why */
  kill(why) {
    this.#killedFor = why
    this.#process.kill('SIGKILL')
  }

  /** @returns {Promise<void>} */
  #end() {
    return new Promise((resolve, reject) => {
      this.#process.on('error', reject)
      this.#process.on('close', (code, signal) => {
        running.delete(this.#process)
        if (code === 0) resolve()
        else reject(new Error(`${this.name} ended with ${signal ?? code}. ${this.#killedFor}\n${this.#stderr}`))
      })
    })
  }
}
