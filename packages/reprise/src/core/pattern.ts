/**
 * Regular expressions that cannot hang: a matcher whose time is proportional to program × text, whatever the pattern.
 *
 * A pattern becomes a program of at most 2000 instructions, run over the text as a set of threads (Thompson 1968): each
 * position visits each instruction at most once, and nothing is ever tried again. It answers only *whether* the pattern
 * occurs, so lazy quantifiers and captures have no effect. Syntax and meaning are those of JavaScript without flags, on
 * UTF-16 units; a leading `(?i)` ignores case. Which characters an atom such as `[^a-z\d]` stands for is asked of the
 * engine's own RegExp, one character at a time, where it has nothing to backtrack over.
 *
 * Invariants: what would need backtracking (back-references, look-around, atomic groups) is refused when compiling. The
 * text is read from its end to its start, with the pattern turned round, and no further than a fixed amount of work
 * goes: of a long text the tail is what counts. The amount is counted, not timed, so the answer is always the same.
 * Imports nothing.
 */

export interface Pattern {
  /** Whether the pattern occurs in the text; in a long one, within the tail that the work allows. */
  test(text: string): boolean
}

const MAX_SOURCE = 1000
const MAX_PROGRAM = 2000
const MAX_DEPTH = 50
const MAX_SETS = 64
/** Instructions visited by one `test`: 1 ms, or 10 to 20 ms as the first thing a process does, still interpreted. */
const MAX_WORK = 200_000
/** What one more character, and asking the engine about it, cost in instructions. */
const CHARACTER_WORK = 3
const ASK_WORK = 5

// Consume a character: this one, or one that the engine says yes to.
const CHAR = 0
const SET = 1
// Go on with the next instruction if the place allows it; in the order of `PLACES`.
const START = 2
const END = 3
const EDGE = 4
const INSIDE = 5
// Go on elsewhere; a split goes on with the next instruction too.
const JUMP = 6
const SPLIT = 7
const MATCH = 8

const PLACES = ['^', '$', '\\b', '\\B']

/** Arguments of jumps are relative to the instruction, so that a fragment can be moved and copied. */
type Fragment = (readonly [op: number, arg: number])[]

interface Reader {
  readonly text: string
  readonly flags: string
  /** Single-character expressions; an instruction names one by its index. The first is the one `\b` needs. */
  readonly sets: RegExp[]
  at: number
}

// Tokens. None repeats within a repetition.
const GROUP = /\((?:\?(?::|<[A-Za-z_$][\w$]*>)|(?!\?))/y
const PLACE = /\\[bB]|[\^$]/y
const SINGLE = /\\(?:[dDwWsSnrtfv\W_]|0(?!\d)|x[\dA-Fa-f]{2}|u[\dA-Fa-f]{4})|(?!\{\d+(?:,\d*)?\})[^\\[()|*+?^$]/y
const CLASS_OPEN = /\[\^?/y
const CLASS_ITEM = /\\(?:[dDwWsSnrtfv\W_b]|0(?!\d)|x[\dA-Fa-f]{2}|u[\dA-Fa-f]{4})|[^\\\]]/y
const QUANTIFIER = /(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/y
/** An atom that stands for its last character. */
const PLAIN = /^(?:\\\W|[^\\.])$/

/** How a source that cannot be read goes on, and what that means; the first that fits says it. */
const REFUSALS: readonly (readonly [start: RegExp, problem: string])[] = [
  [/^$/, 'unclosed class'],
  [/^\(\?<?[=!]/, 'unsupported look-around'],
  [/^\(\?>/, 'unsupported atomic group'],
  [/^\(\?[a-z-]+[:)]/, 'unsupported inline flag'],
  [/^\(/, 'unsupported group'],
  [/^\)/, 'unopened group'],
  [/^\\[1-9k]/, 'unsupported back-reference'],
  [/^\\p/i, 'unsupported Unicode property'],
  [/^\\/, 'unsupported escape'],
  [/^/, 'nothing to repeat'],
]

/** Throws an `Error` that names the problem and the character, counted from 1, where it is. */
export function compilePattern(source: string): Pattern {
  const flags = source.startsWith('(?i)') ? 'i' : ''
  const reader: Reader = { text: source, flags, sets: [/\w/], at: flags.length * 4 }
  if (source.length > MAX_SOURCE) fail(reader, 'source too long')
  const program = readAlternatives(reader, 0)
  if (reader.at < source.length) refuse(reader)
  program.push([MATCH, 0])
  const ops = Uint8Array.from(program, ([op]) => op)
  const args = Int32Array.from(program, ([, arg]) => arg)
  return { test: (text) => search(reader, ops, args, text) }
}

// ── reading a source into a program ──────────────────────────────────────────────────────────────

function readAlternatives(reader: Reader, depth: number): Fragment {
  if (depth > MAX_DEPTH) fail(reader, 'nested too deep')
  let all = readSequence(reader, depth)
  while (reader.text[reader.at] === '|') {
    reader.at++
    const other = readSequence(reader, depth)
    all = [[SPLIT, all.length + 2], ...all, [JUMP, other.length + 1], ...other]
    bound(reader, all.length)
  }
  return all
}

function readSequence(reader: Reader, depth: number): Fragment {
  const all: Fragment = []
  while (reader.at < reader.text.length && !'|)'.includes(reader.text[reader.at]!)) {
    const place = eat(reader, PLACE)?.[0]
    if (place === undefined) all.unshift(...readRepeated(reader, readAtom(reader, depth)))
    else all.unshift([START + PLACES.indexOf(place), 0])
    bound(reader, all.length)
  }
  return all
}

function readAtom(reader: Reader, depth: number): Fragment {
  const { at: start, text, flags, sets } = reader
  if (eat(reader, GROUP)) {
    const group = readAlternatives(reader, depth + 1)
    if (text[reader.at++] !== ')') fail(reader, 'unclosed group', start)
    return group
  }
  if (eat(reader, CLASS_OPEN)) {
    while (eat(reader, CLASS_ITEM));
    if (text[reader.at] !== ']') refuse(reader)
    reader.at++
  } else if (!eat(reader, SINGLE)) refuse(reader)
  const atom = text.slice(start, reader.at)
  if (PLAIN.test(atom)) return [[CHAR, fold(reader, atom.charCodeAt(atom.length - 1))]]
  let index = sets.findIndex((set) => set.source === atom)
  try {
    if (index < 0) index = sets.push(new RegExp(atom, flags)) - 1
  } catch {
    fail(reader, 'range out of order', start)
  }
  if (index > MAX_SETS) fail(reader, 'too large')
  return [[SET, index]]
}

function readRepeated(reader: Reader, once: Fragment): Fragment {
  const start = reader.at
  const quantifier = eat(reader, QUANTIFIER)
  if (!quantifier) return once
  if (reader.text[reader.at] === '+') fail(reader, 'unsupported possessive quantifier')
  const [text, from, comma, to] = quantifier
  const least = Number(from ?? text.startsWith('+'))
  const most = from ? Number(comma ? to || Infinity : from) : text.startsWith('?') ? 1 : Infinity
  if (most < least) fail(reader, 'quantifier out of order', start)
  bound(reader, (most < Infinity ? most : least) * (once.length || 1))
  const all: Fragment = []
  for (let i = 0; i < least; i++) all.push(...once)
  if (most < Infinity) for (let i = least; i < most; i++) all.push([SPLIT, once.length + 1], ...once)
  else if (least) all.push([SPLIT, -once.length])
  else all.push([SPLIT, once.length + 2], ...once, [JUMP, -once.length - 1])
  return all
}

function eat(reader: Reader, token: RegExp): RegExpExecArray | null {
  token.lastIndex = reader.at
  const found = token.exec(reader.text)
  if (found) reader.at = token.lastIndex
  return found
}

function bound(reader: Reader, size: number): void {
  if (size >= MAX_PROGRAM) fail(reader, 'too large')
}

function refuse(reader: Reader): never {
  const rest = reader.text.slice(reader.at)
  fail(reader, REFUSALS.find(([start]) => start.test(rest))![1])
}

function fail(reader: Reader, problem: string, at = reader.at): never {
  throw new Error(`${problem} at character ${at + 1} of the pattern`)
}

// ── running a program over a text ────────────────────────────────────────────────────────────────

/** The instructions to visit at one place of the text, each once, in the order they were found. */
interface Threads {
  readonly list: Uint16Array
  /** The place at which an instruction was last added. */
  readonly added: Int32Array
  count: number
}

interface Memory {
  /** The latest answers by set and low byte of the character, each with the character it is about. */
  readonly answers: Int32Array
  work: number
}

function search(reader: Reader, ops: Uint8Array, args: Int32Array, text: string): boolean {
  const memory: Memory = { answers: new Int32Array(reader.sets.length << 8), work: 0 }
  let here = noThreads(ops.length)
  let next = noThreads(ops.length)
  let isWord = false
  for (let at = text.length; at >= 0 && memory.work < MAX_WORK; at--) {
    // Before the start stands no character: what -1 leads to is never looked at, but that it is no word.
    const code = at > 0 ? text.charCodeAt(at - 1) : -1
    const folded = fold(reader, code)
    const wasWord = isWord
    isWord = has(reader, memory, 0, code)
    add(here, 0, at)
    for (let i = 0; i < here.count; i++) {
      const pc = here.list[i]!
      const op = ops[pc]!
      const arg = args[pc]!
      if (op === MATCH) return true
      if (op <= SET) {
        if (op === CHAR ? folded === arg : has(reader, memory, arg, code)) add(next, pc + 1, at - 1)
        continue
      }
      if (op >= JUMP) add(here, pc + arg, at)
      if (op === SPLIT || holds(op, at === 0, at === text.length, isWord !== wasWord)) add(here, pc + 1, at)
    }
    memory.work += here.count + CHARACTER_WORK
    const done = here
    here = next
    next = done
    next.count = 0
  }
  return false
}

function noThreads(size: number): Threads {
  return { list: new Uint16Array(size), added: new Int32Array(size).fill(-1), count: 0 }
}

function add(threads: Threads, pc: number, at: number): void {
  if (threads.added[pc] === at) return
  threads.added[pc] = at
  threads.list[threads.count++] = pc
}

function holds(op: number, isStart: boolean, isEnd: boolean, isEdge: boolean): boolean {
  return op === START ? isStart : op === END ? isEnd : op === EDGE ? isEdge : op === INSIDE && !isEdge
}

/** Whether the set has the character; it asks the engine only if the last of the same low byte was another. */
function has(reader: Reader, memory: Memory, set: number, code: number): boolean {
  const slot = (set << 8) | (code & 255)
  if (memory.answers[slot]! >> 1 !== code + 1) {
    memory.answers[slot] = ((code + 1) << 1) | Number(reader.sets[set]!.test(String.fromCharCode(code)))
    memory.work += ASK_WORK
  }
  return (memory.answers[slot]! & 1) > 0
}

/** The character as literals are compared: in lower case if case is ignored. */
function fold(reader: Reader, code: number): number {
  return reader.flags ? String.fromCharCode(code).toLowerCase().charCodeAt(0) : code
}
