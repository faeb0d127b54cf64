/**
 * What the kernel would refuse, found before: then the message can name the argument or variable and its size. Nothing is
 * ever cut. Imports Node and the command.
 */
import { readFileSync } from 'node:fs'
import type { Command } from './command.js'

/** One string, with its end mark: 32 pages. Linux only. */
const MOST_STRING_BYTES = 128 * 1024
/** What `execve` keeps of an unlimited or large stack, whatever its limit. */
const MOST_TOTAL_BYTES = 6 * 1024 * 1024
const DARWIN_TOTAL_BYTES = 1024 * 1024
/** For the path, alignment and what the kernel adds; POSIX asks to leave 2048. */
const RESERVE_BYTES = 4096
const POINTER_BYTES = 8

export type CommandStrings = Pick<Command, 'argv' | 'env' | 'cwd' | 'tag'>

export interface Limits {
  readonly stringBytes: number
  readonly totalBytes: number
}

/** null: nothing to be said against it. */
export function refuseCommand(command: CommandStrings, limits: Limits = ownLimits()): Error | null {
  const [program] = command.argv
  if (program === undefined || program === '')
    return refusal('EINVAL', 'no program is named: the first argument is empty')
  if (command.cwd.includes('\0')) return refusal('EINVAL', 'the working directory has a NUL character in its name')
  if (command.tag === '' || command.tag.includes('\0'))
    return refusal('EINVAL', 'its tag is empty, or has a NUL character')
  let total = RESERVE_BYTES + Buffer.byteLength(program)
  for (const [index, text] of command.argv.entries()) {
    const what = `argument ${index} of ${shown(program)}`
    const error = refuseString(what, text, 0, limits)
    if (error !== null) return error
    total += Buffer.byteLength(text) + 1 + POINTER_BYTES
  }
  for (const [name, value] of Object.entries(command.env)) {
    if (name === '' || /[=\0]/.test(name)) {
      return refusal('EINVAL', `${JSON.stringify(name)} cannot be the name of an environment variable`)
    }
    const error = refuseString(`the environment variable ${shown(name)}`, value, Buffer.byteLength(name) + 1, limits)
    if (error !== null) return error
    total += Buffer.byteLength(name) + Buffer.byteLength(value) + 2 + POINTER_BYTES
  }
  return total > limits.totalBytes ? tooMuch(command, total, limits) : null
}

function refuseString(what: string, text: string, prefixBytes: number, limits: Limits): Error | null {
  if (text.includes('\0')) return refusal('EINVAL', `${what} contains a NUL character, which no program can be given`)
  const bytes = prefixBytes + Buffer.byteLength(text)
  if (bytes < limits.stringBytes) return null
  const most = limits.stringBytes - 1
  return refusal(
    'E2BIG',
    `${what} has ${bytes} bytes, the system takes ${most} at most: hand it over in a file or as stdin`,
  )
}

function tooMuch({ argv, env }: CommandStrings, total: number, limits: Limits): Error {
  const sizes: (readonly [what: string, bytes: number])[] = [
    ...argv.map((text, index) => [`argument ${index}`, Buffer.byteLength(text)] as const),
    ...Object.entries(env).map(([name, value]) => [`the variable ${shown(name)}`, Buffer.byteLength(value)] as const),
  ]
  const [largest] = sizes.toSorted((a, b) => b[1] - a[1])
  return refusal(
    'E2BIG',
    `arguments and environment have ${total} bytes together, the system takes ${limits.totalBytes}; the largest is ` +
      `${largest?.[0]} with ${largest?.[1]}: hand it over in a file or as stdin`,
  )
}

export function refusal(code: string, message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code })
}

/** A name in a message. */
export function shown(name: string): string {
  return name.length > 200 ? `${name.slice(0, 199)}…` : name
}

let known: Limits | undefined
function ownLimits(): Limits {
  return (known ??= readLimits())
}

function readLimits(): Limits {
  if (process.platform !== 'linux') return { stringBytes: Infinity, totalBytes: DARWIN_TOTAL_BYTES }
  return { stringBytes: MOST_STRING_BYTES, totalBytes: totalFrom(readStackLimit()) }
}

/** A quarter of the stack, within bounds; `execve(2)`. */
export function totalFrom(stackBytes: number): number {
  return Math.min(MOST_TOTAL_BYTES, Math.max(MOST_STRING_BYTES, stackBytes / 4))
}

function readStackLimit(): number {
  try {
    const [, soft] = /^Max stack size\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === 'unlimited' ? Infinity : Number(soft ?? 8 * 1024 * 1024)
  } catch {
    return 8 * 1024 * 1024
  }
}
