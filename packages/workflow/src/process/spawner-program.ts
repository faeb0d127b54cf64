/**
 * What the spawner executes: text, because a bundle has no file for it. A line on its input for each program to be started, as JSON,
 * and a line on its output for what became of each: \`s ID PID\` started, \`f ID CODE MESSAGE\` could not be started, \`x ID CODE
 * SIGNAL\` has ended. It ends with its input, and starts nothing after its parent has ended. Imports nothing.
 */

/** Its arguments: the number under which programs get the mark. */
export const SPAWNER_PROGRAM = String.raw`
'use strict'
const { spawn } = require('node:child_process')
const { closeSync, constants, openSync } = require('node:fs')

const parent = process.ppid
const mark = Number(process.argv[1])
let base = {}
let rest = ''

const tell = (...words) => process.stdout.write(words.join(' ') + '\n')

/** A file that the parent has open; by another number than the mark's, or this process would seem to be a program with it. */
function open(descriptor, flags) {
  const file = '/proc/' + parent + '/fd/' + descriptor
  const own = openSync(file, flags)
  if (own !== mark) return own
  try {
    return openSync(file, flags)
  } finally {
    closeSync(own)
  }
}

function start({ id, file, argv, cwd, set, gone, stdio }) {
  const opened = []
  try {
    if (process.ppid !== parent) process.exit()
    const ends = stdio.map((end) => {
      if (end === null) return 'ignore'
      const own = open(end[0], end[1] === 'r' ? constants.O_RDONLY : constants.O_WRONLY)
      opened.push(own)
      return own
    })
    const env = { ...base, ...set }
    for (const name of gone) delete env[name]
    const [argv0, ...args] = argv
    const child = spawn(file ?? argv0, args, { argv0, cwd, env, detached: true, stdio: ends })
    if (child.pid === undefined) {
      child.once('error', (error) => fail(id, error))
      return
    }
    tell('s', id, child.pid)
    child.once('exit', (code, signal) => tell('x', id, code, signal))
  } catch (error) {
    fail(id, error)
  } finally {
    for (const one of opened) closeSync(one)
  }
}

const fail = (id, error) => tell('f', id, error.code ?? 'UNKNOWN', String(error.message).replaceAll('\n', ' '))

process.stdin.setEncoding('utf8')
process.stdin.on('data', (text) => {
  const lines = (rest + text).split('\n')
  rest = lines.pop()
  for (const line of lines) {
    const message = JSON.parse(line)
    if (message.base === undefined) start(message)
    else base = message.base
  }
})
process.stdin.on('end', () => process.exit())
process.stdin.on('error', () => process.exit())
process.stdout.on('error', () => process.exit())
tell('r')
`
