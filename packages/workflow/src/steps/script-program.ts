/**
 * What runs in the thread of a script: text, because a thread begins with a file or a text, and a bundle has no file for it.
 *
 * Everything goes through one port that the module cannot reach, in order: output, then the result. Output waits until it
 * has been taken, so a script that says more than can be written fills its own memory, not ours. The values of the run are
 * fetched when the script looks at them: most do not, and after a thousand steps they are many. Imports nothing.
 */

export const SCRIPT_PROGRAM = String.raw`
'use strict'
const { parentPort, receiveMessageOnPort, workerData } = require('node:worker_threads')
const { Writable } = require('node:stream')

const MAX_DEPTH = 60
const MAX_FIELDS = 20
let port
let valuesPort
let answered
let taken = []
let controller

function outputTo(stream) {
  const send = (bytes, done) => {
    if (bytes.length === 0) return done()
    taken.push(done)
    port.postMessage({ type: 'output', stream, bytes })
  }
  return new Writable({
    write: (chunk, encoding, done) => send(chunk, done),
    writev: (chunks, done) => send(Buffer.concat(chunks.map(({ chunk }) => chunk)), done),
  })
}

const outputs = { stdout: outputTo('stdout'), stderr: outputTo('stderr') }
for (const name of Object.keys(outputs)) {
  Object.defineProperty(process, name, { value: outputs[name], configurable: true })
}
const flushed = () => Promise.all(Object.values(outputs).map((stream) => new Promise((done) => stream.write('', done))))

/** Where a value is no JSON, if it is none. */
function problemIn(value, place, depth) {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : place + ' is ' + value
  if (typeof value !== 'object') return place + ' is ' + (value === undefined ? 'undefined' : 'a ' + typeof value)
  if (depth === 0) return place + ' is nested deeper than ' + MAX_DEPTH + ' levels, or within itself'
  const prototype = Object.getPrototypeOf(value)
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) {
    return place + ' is an object of class ' + (value.constructor?.name ?? 'unknown')
  }
  for (const [key, item] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    if (item === undefined && !Array.isArray(value)) continue
    const problem = problemIn(item, Array.isArray(value) ? place + '[' + key + ']' : place + '.' + key, depth - 1)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** What is worth keeping of whatever was thrown, as data. */
function failureOf(error, depth = 0) {
  if (typeof error !== 'object' || error === null) {
    return { name: 'Error', message: 'a script threw ' + (typeof error === 'string' ? error : String(error)), fields: {} }
  }
  const read = (field) => {
    try {
      return error[field]
    } catch {
      return undefined
    }
  }
  const text = (field, most) => (typeof read(field) === 'string' ? read(field).slice(0, most) : undefined)
  const fields = {}
  for (const key of [...new Set(['code', 'errno', 'status', 'exitCode', ...Object.keys(error)])].slice(0, MAX_FIELDS)) {
    const value = read(key)
    if (['string', 'number', 'boolean'].includes(typeof value)) {
      fields[key] = typeof value === 'string' ? value.slice(0, 2000) : value
    }
  }
  const cause = read('cause')
  const headers = read('headers')
  const retryAfter = typeof headers?.get === 'function' ? headers.get('retry-after') : headers?.['retry-after']
  return {
    name: text('name', 200) || 'Error',
    message: text('message', 20000) ?? 'an error without a message',
    stack: text('stack', 20000),
    fields,
    ...(typeof retryAfter === 'string' && { retryAfter }),
    ...(cause !== undefined && depth < 3 && { cause: failureOf(cause, depth + 1) }),
  }
}

async function functionOf(name) {
  const module = await import(workerData.url)
  const found = Object.hasOwn(module, name) ? module[name] : undefined
  if (typeof found === 'function') return found
  return { exports: Object.keys(module).filter((key) => typeof module[key] === 'function') }
}

function takeEnvironment(env) {
  for (const key of Object.keys(process.env)) if (!Object.hasOwn(env, key)) delete process.env[key]
  for (const [key, value] of Object.entries(env)) if (process.env[key] !== value) process.env[key] = value
}

/** The other thread answers at once: it never waits for this one. */
function fetchValues() {
  Atomics.store(answered, 0, 0)
  port.postMessage({ type: 'values' })
  Atomics.wait(answered, 0, 0)
  return receiveMessageOnPort(valuesPort).message
}

/** From the first look on it is a field as any other. */
function withValues(given) {
  const become = (value) => {
    Object.defineProperty(given, 'values', { value, enumerable: true, writable: true, configurable: true })
    return value
  }
  Object.defineProperty(given, 'values', {
    get: () => become(fetchValues()),
    set: become,
    enumerable: true,
    configurable: true,
  })
  return given
}

async function answerTo({ name, input, env }) {
  takeEnvironment(env)
  controller = new AbortController()
  let run
  try {
    run = await functionOf(name)
  } catch (error) {
    return { type: 'failed', phase: 'load', failure: failureOf(error), isClean: false }
  }
  if (typeof run !== 'function') return { type: 'no_function', exports: run.exports, isClean: true }
  const log = (...parts) => console.log(...parts)
  // What a module starts when it is loaded is its own; what a call leaves behind would be mixed up with the next.
  const before = process.getActiveResourcesInfo().length
  const isClean = () => process.getActiveResourcesInfo().length <= before
  try {
    const value = (await run(withValues({ ...input, env, signal: controller.signal, log }))) ?? null
    const problem = problemIn(value, 'the result', MAX_DEPTH)
    if (problem !== undefined) return { type: 'no_json', problem, isClean: isClean() }
    return { type: 'done', json: JSON.stringify(value), isClean: isClean() }
  } catch (error) {
    return { type: 'failed', phase: 'run', failure: failureOf(error), isClean: isClean() }
  }
}

parentPort.once('message', (given) => {
  port = given.port
  valuesPort = given.valuesPort
  answered = given.answered
  port.on('message', async (message) => {
    if (message.type === 'taken') taken.shift()?.()
    else if (message.type === 'abort') controller?.abort(new DOMException('the attempt was ended', 'AbortError'))
    else {
      const answer = await answerTo(message)
      await flushed()
      port.postMessage(answer)
    }
  })
})
`
