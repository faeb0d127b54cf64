/**
 * Commands whose arguments are program text, names of variables or arithmetic: there a value would be executed however
 * it is quoted. Bash expands subscripts wherever it takes a variable's name: `unset 'a[$(reboot)]'` reboots.
 *
 * What a program that we do not know does with its arguments is its own affair. Imports the table of interpreters.
 */
import type { ShellFind } from './shell-find.js'
import {
  type Interpreter,
  INTERPRETERS,
  type Script,
  SCRIPTS,
  SOURCES,
  STDIN_FILE,
  STDIN_INTERPRETERS,
  WRAPPERS,
} from './shell-interpreters.js'

/** A word of a simple command: quotes removed, and `\uFFFC` for everything that is expanded. */
export interface ShellWord {
  text: string
  /** Whether a part of it is quoted or expanded: then it is no keyword. */
  isQuoted: boolean
  readonly finds: { readonly find: ShellFind; readonly at: number }[]
}

export const EXPANDED = '\uFFFC'

const ASSIGNMENT = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/
const SUBSCRIPT = /^(?:[A-Za-z_]\w*)?\[[^\]]*\](?=\+?=)/
const QUOTE_CURE = 'quote it for the other shell with `$(printf %q "${…}")`'
const NAME_PLACE = 'bash takes it for the name of a variable, and evaluates what is in its brackets'
const ARITHMETIC = /^-(?:eq|ne|lt|le|gt|ge)$/

const SSH_OPTION_WITH_VALUE = /^-[A-Za-z0-9]*[BbcDEeFIiJLlmOopQRSWw]$/
const JOINERS = /^(?:watch|parallel)$/
/** Stand before a command without being one, with their options. */
const PREFIX = /^(?:command|builtin|exec|!|-.*)$/

/** Marks what would be executed. `words` are those of one simple command, in order. */
export function refuseEvaluated(words: readonly ShellWord[]): void {
  if (words.every(({ finds }) => finds.length === 0)) return
  refusePrompts(words)
  const start = commandAt(words)
  if (start === -1) return
  const name = lastPart(words[start]!.text)
  refuseBuiltin(name, words.slice(start + 1))
  const programs = programsAt(words)
  words.forEach((word, index) => {
    const program = lastPart(word.text)
    const rest = words.slice(index + 1)
    const interpreter = INTERPRETERS.find(({ names }) => names.test(program))
    if (interpreter !== undefined) refuseCode(program, interpreter, rest)
    if (program === 'ssh') refuseRemote(rest)
    if (JOINERS.test(program) && programs.includes(index)) refuseJoined(program, rest)
    const script = programs.includes(index) ? SCRIPTS.find(({ names }) => names.test(program)) : undefined
    if (script !== undefined) refuseScript(program, script, rest)
  })
}

/** Variables that a command gives a value of ours. `stdin`: values that it reads. */
export function assignedNames(words: readonly ShellWord[], stdin: readonly ShellFind[]): string[] {
  const assigned = words.flatMap(({ text, finds }) => {
    const equals = ASSIGNMENT.exec(text)?.[0].length ?? Infinity
    return finds.some(({ at }) => at >= equals) ? [/^\w+/.exec(text)![0]] : []
  })
  const [first, second] = words
  if (first?.text === 'for' && words.some(({ finds }) => finds.length > 0)) assigned.push(second?.text ?? '')
  const isRead = /^(?:read|mapfile|readarray)$/.test(programOf(words)) && stdin.length > 0
  const read = isRead ? words.slice(commandAt(words) + 1).map(({ text }) => text) : []
  return [...assigned, ...read].filter((name) => /^[A-Za-z_]\w{0,99}$/.test(name))
}

/** Where the command's own name stands; -1 if there is none. */
function commandAt(words: readonly ShellWord[]): number {
  return words.findIndex(({ text }) => !ASSIGNMENT.test(text) && !PREFIX.test(lastPart(text)))
}

/** Places of words that may be the program: the command, and all others behind one that runs programs. */
function programsAt(words: readonly ShellWord[]): number[] {
  const start = commandAt(words)
  if (start === -1) return []
  if (!WRAPPERS.test(lastPart(words[start]!.text))) return [start]
  return words.slice(start).map((_, index) => start + index)
}

/** The name of the command, without its path; empty if there is none. */
export function programOf(words: readonly ShellWord[]): string {
  return lastPart(words[commandAt(words)]?.text ?? '')
}

/** The same for `list[…]=`, which stands in any place. */
export function refuseSubscripts(words: readonly ShellWord[]): void {
  for (const word of words) {
    const length = SUBSCRIPT.exec(word.text)?.[0].length ?? 0
    refuse(
      word,
      'in the subscript of an array, which bash evaluates; check it, and build the list in another way',
      (at) => at < length,
    )
  }
}

/** Marks what is in the stdin of a command that runs it. */
export function refuseStdin(words: readonly ShellWord[], finds: readonly ShellFind[]): void {
  const program = runsStdin(words)
  if (program === undefined) return
  const cure =
    program.endsWith('sh') && program !== 'ssh' ? `: \`${program} -s -- "\${…}" <<'END'\`, and \`"$1"\` in it` : ''
  for (const find of finds) {
    find.refusal ??= `in what \`${program}\` reads as its program, which would execute it; pass it as an argument${cure}`
  }
}

/** Marks what `<(…)` prints if it stands where a program is read from. `words`: those before it. */
export function refuseRead(words: readonly ShellWord[], printed: readonly ShellFind[]): void {
  const last = words.at(-1)
  const isSourced = last !== undefined && SOURCES.test(last.text) && commandAt(words) === words.length - 1
  const at = programsAt(words).find((index) => STDIN_INTERPRETERS.test(lastPart(words[index]!.text))) ?? -1
  const isRun = at !== -1 && operandsOf(words.slice(at + 1)).length === 0
  if (!isSourced && !isRun) return
  for (const find of printed) {
    find.refusal ??= `in what \`${lastPart((isSourced ? last : words[at]!).text)}\` reads as its program, which would execute it; pass it as an argument`
  }
}

/** Whether what comes in by stdin is a program to the command, which names it; undefined if it is data. */
export function runsStdin(words: readonly ShellWord[]): string | undefined {
  for (const index of programsAt(words)) {
    const word = words[index]!
    const program = lastPart(word.text)
    const rest = words.slice(index + 1)
    if (program === 'ssh' && sshOperands(rest).length === 1) return 'ssh'
    if (STDIN_INTERPRETERS.test(program) && readsItsProgram(rest)) return program
    if (SOURCES.test(word.text) && STDIN_FILE.test(rest[0]?.text ?? '')) return word.text
    if (/^(?:xargs|parallel)$/.test(program) && fillsProgram(rest)) return program
  }
  return undefined
}

function readsItsProgram(args: readonly ShellWord[]): boolean {
  const operands = operandsOf(args)
  const first = operands[0]?.text
  return (
    first === undefined ||
    first === '-' ||
    STDIN_FILE.test(first) ||
    args.some(({ text }) => /^-[A-Za-z]*s$/.test(text))
  )
}

/** `xargs -I{} sh -c 'ls {}'` puts what it reads into the program. */
function fillsProgram(args: readonly ShellWord[]): boolean {
  const isShell = args.some(({ text }) => INTERPRETERS.some(({ names }) => names.test(lastPart(text))))
  return isShell && args.some(({ text }) => text.includes('{}') && /[\s;|&$"']/.test(text))
}

function operandsOf(args: readonly ShellWord[]): ShellWord[] {
  return args.filter((word, index) => isOperand(word) && !isOptionValue(args, index))
}

function refuseBuiltin(name: string, args: readonly ShellWord[]): void {
  const all = (why: string): void => args.forEach((arg) => refuse(arg, why))
  switch (name) {
    case 'eval':
      return all(`in \`eval\`, which would execute it; ${QUOTE_CURE}`)
    case 'complete':
    case 'compgen':
      return all(`in \`${name}\`, which may expand it`)
    case 'let':
      return all('in arithmetic, where bash executes what it names; use `expr`')
    case 'unset':
      return all(`in \`unset\`: ${NAME_PLACE}`)
    case 'trap':
      return args
        .filter(isOperand)
        .slice(0, 1)
        .forEach((arg) => refuse(arg, 'in `trap`, which would execute it'))
    case 'declare':
    case 'typeset':
    case 'local':
    case 'export':
    case 'readonly':
      return refuseDeclared(name, args)
    case 'read':
    case 'mapfile':
    case 'readarray':
    case 'getopts':
    case 'printf':
    case 'wait':
      return refuseNames(name, args)
    case '[':
    case 'test':
    case '[[':
      return refuseTested(name, args)
    default:
      return undefined
  }
}

function isOperand({ text }: ShellWord): boolean {
  return !/^[-+]./.test(text)
}

/** `pipefail` in `bash -o pipefail`. */
function isOptionValue(words: readonly ShellWord[], index: number): boolean {
  return /^[-+][A-Za-z]*[oO]$/.test(words[index - 1]?.text ?? '')
}

function refuseDeclared(name: string, args: readonly ShellWord[]): void {
  const evaluates = args.some(({ text }) => /^-[A-Za-z]*[in]/.test(text)) && name !== 'export'
  for (const arg of args) {
    const equals = arg.text.indexOf('=')
    if (evaluates) refuse(arg, `in \`${name}\` with an option that makes bash evaluate it; leave the option out`)
    else refuse(arg, `in \`${name}\`: ${NAME_PLACE}`, (at) => equals === -1 || at < equals)
  }
}

/** Options of builtins that take names of variables; the word behind one of these is no name: `read -p "${prompt}" answer`. */
const VALUE_OPTIONS: Readonly<Record<string, RegExp>> = {
  read: /^-[A-Za-z]*[diNnptu]$/,
  mapfile: /^-[A-Za-z]*[COcdnsu]$/,
  readarray: /^-[A-Za-z]*[COcdnsu]$/,
}
/** Those that take a name only behind this option. */
const NAME_OPTIONS: Readonly<Record<string, string>> = { printf: '-v', wait: '-p' }

function refuseNames(name: string, args: readonly ShellWord[]): void {
  const option = NAME_OPTIONS[name]
  args.forEach((arg, index) => {
    const before = args[index - 1]?.text ?? ''
    const named = option === undefined ? VALUE_OPTIONS[name]?.test(before) !== true : before === option
    if (named || before === '-C') refuse(arg, `in \`${name}\`: ${NAME_PLACE}`)
  })
}

function refuseTested(name: string, args: readonly ShellWord[]): void {
  args.forEach((arg, index) => {
    const before = args[index - 1]?.text ?? ''
    if (/^-[vR]$/.test(before)) refuse(arg, `behind \`${before}\`: ${NAME_PLACE}`)
    const counts = ARITHMETIC.test(before) || ARITHMETIC.test(args[index + 1]?.text ?? '')
    if (name === '[[' && counts) refuse(arg, 'in arithmetic of `[[ ]]`, which bash evaluates; use `[ ]`')
  })
}

function refuseCode(program: string, { option, glued }: Interpreter, rest: readonly ShellWord[]): void {
  const why = (shown: string): string => {
    const cure = program.endsWith('sh')
      ? `pass it behind the program: \`${shown} '… "$1" …' _ "\${…}"\``
      : 'pass it as an argument behind the program text, or in the environment'
    return `in the program text of \`${shown}\`, which would execute it; ${cure}`
  }
  for (const word of rest) {
    const written = glued?.exec(word.text)?.[0]
    if (written !== undefined) refuse(word, why(`${program} ${written}`))
  }
  const flag = rest.findIndex(({ text }) => option.test(text))
  if (flag === -1) return
  // Shells take further options between: `sh -c -e TEXT`.
  const [code] = operandsOf(rest.slice(flag + 1))
  if (code) refuse(code, why(`${program} ${rest[flag]!.text}`))
}

/** Of `awk` and `sed`, whose first argument is a program unless an option gives one. */
function refuseScript(program: string, script: Script, rest: readonly ShellWord[]): void {
  const why = `in the program of \`${program}\`, which can run commands; ${script.cure}`
  const given = rest.filter((word, index) => {
    const before = rest[index - 1]?.text ?? ''
    return script.option.test(before) || script.glued.test(word.text)
  })
  given.forEach((word) => refuse(word, why))
  const hasProgram = rest.some(
    ({ text }) => script.option.test(text) || script.glued.test(text) || script.file.test(text),
  )
  if (hasProgram) return
  const first = rest.find((word, index) => isOperand(word) && !script.withValue.test(rest[index - 1]?.text ?? ''))
  if (first) refuse(first, why)
}

/** `PS4` is expanded for every line of `set -x`. */
function refusePrompts(words: readonly ShellWord[]): void {
  for (const word of words) {
    const prompt = /^(PS[0-4]|PROMPT_COMMAND)\+?=/.exec(word.text)?.[1]
    if (prompt !== undefined) refuse(word, `in \`${prompt}\`, which bash would execute`)
  }
}

/** `watch` and `parallel` join their words into one text, for `sh -c`. What stands behind `:::` is quoted by `parallel`. */
function refuseJoined(program: string, rest: readonly ShellWord[]): void {
  if (program === 'watch' && rest.some(({ text }) => /^(?:-[a-z]*x|--exec)$/.test(text))) return
  const start = rest.findIndex((word, index) => isOperand(word) && !/^-[^=]*$/.test(rest[index - 1]?.text ?? ''))
  const end = rest.findIndex(({ text }) => /^:{3,4}\+?$/.test(text))
  if (start === -1) return
  for (const word of rest.slice(start, end === -1 ? undefined : end))
    refuse(word, `in a command for \`${program}\`, which a shell reads again; ${QUOTE_CURE}`)
}

function refuseRemote(rest: readonly ShellWord[]): void {
  for (const word of sshOperands(rest).slice(1)) {
    refuse(word, `in a command for \`ssh\`, which the other side's shell reads again; ${QUOTE_CURE}`)
  }
}

/** The host, and the words of the command. */
function sshOperands(args: readonly ShellWord[]): ShellWord[] {
  let at = 0
  while (at < args.length && args[at]!.text.startsWith('-')) at += SSH_OPTION_WITH_VALUE.test(args[at]!.text) ? 2 : 1
  return args.slice(at)
}

function refuse(word: ShellWord, why: string, where: (at: number) => boolean = () => true): void {
  for (const { find, at } of word.finds) {
    if (where(at)) find.refusal ??= why
  }
}

/** The program of a path; what is expanded in it may be nothing. */
function lastPart(text: string): string {
  return text.slice(text.lastIndexOf('/') + 1).replaceAll(EXPANDED, '')
}
