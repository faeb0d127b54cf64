/**
 * Commands whose arguments are program text, names of variables or arithmetic: there a value would be executed however
 * it is quoted. Bash expands subscripts wherever it takes a variable's name: `unset 'a[$(reboot)]'` reboots.
 *
 * What a program that we do not know does with its arguments is its own affair. Imports types only.
 */
import type { ShellFind } from './shell-find.js'

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

/** Programs that run the argument behind this option, by the last part of their path. */
const INTERPRETERS: readonly (readonly [program: RegExp, option: RegExp])[] = [
  [/^(?:ba|da|a|k|mk|z)?sh$/, /^-[A-Za-z]*c[A-Za-z]*$/],
  [/^(?:su|runuser|flock|script)$/, /^-[A-Za-z]*c$|^--command$/],
  [/^python[\d.]*$/, /^-[A-Za-z]*c$/],
  [/^(?:node|nodejs|bun|deno)$/, /^(?:-e|-p|-pe|--eval|--print|eval)$/],
  [/^(?:perl|ruby)$/, /^-[A-Za-z]*[eE]$/],
  [/^php[\d.]*$/, /^-r$/],
]
/** Those that take their program from stdin when they are given none. */
const STDIN_INTERPRETERS = /^(?:(?:ba|da|a|k|mk|z)?sh|python[\d.]*|node|nodejs|perl|ruby|php[\d.]*)$/
const SSH_OPTION_WITH_VALUE = /^-[A-Za-z0-9]*[BbcDEeFIiJLlmOopQRSWw]$/

/** Marks what would be executed. `words` are those of one simple command, in order. */
export function refuseEvaluated(words: readonly ShellWord[]): void {
  if (words.every(({ finds }) => finds.length === 0)) return
  const start = words.findIndex(
    (word) => !ASSIGNMENT.test(word.text) && !/^(?:command|builtin)$/.test(lastPart(word.text)),
  )
  if (start === -1) return
  const args = words.slice(start + 1)
  refuseBuiltin(lastPart(words[start]!.text), args)
  words.forEach((word, index) => {
    const program = lastPart(word.text)
    for (const [name, option] of INTERPRETERS) {
      if (name.test(program)) refuseCode(program, option, words.slice(index + 1))
    }
    if (program === 'ssh') refuseRemote(words.slice(index + 1))
  })
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

/** Whether what comes in by stdin is a program to the command, which names it; undefined if it is data. */
function runsStdin(words: readonly ShellWord[]): string | undefined {
  for (const [index, word] of words.entries()) {
    const program = lastPart(word.text)
    if (program === 'ssh' && sshOperands(words.slice(index + 1)).length === 1) return 'ssh'
    if (STDIN_INTERPRETERS.test(program) && readsItsProgram(words.slice(index + 1))) return program
  }
  return undefined
}

function readsItsProgram(args: readonly ShellWord[]): boolean {
  const operands = args.filter((word, index) => isOperand(word) && !isOptionValue(args, index))
  return operands.length === 0 || operands[0]!.text === '-' || args.some(({ text }) => /^-[A-Za-z]*s$/.test(text))
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

/** `read -p "${prompt}" answer` is fine: the word belongs to the option before it. */
function refuseNames(name: string, args: readonly ShellWord[]): void {
  args.forEach((arg, index) => {
    const before = args[index - 1]?.text ?? ''
    const named = name === 'printf' ? before === '-v' : !before.startsWith('-') || before === '-a'
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

function refuseCode(program: string, option: RegExp, rest: readonly ShellWord[]): void {
  const flag = rest.findIndex(({ text }) => option.test(text))
  if (flag === -1) return
  // Shells take further options between: `sh -c -e TEXT`.
  const behind = rest.slice(flag + 1)
  const code = behind.find((word, index) => isOperand(word) && !isOptionValue(behind, index))
  if (!code) return
  const shown = `${program} ${rest[flag]!.text}`
  const cure = program.endsWith('sh')
    ? `pass it behind the program: \`${shown} '… "$1" …' _ "\${…}"\``
    : 'pass it as an argument behind the program text, or in the environment'
  refuse(code, `in the program text of \`${shown}\`, which would execute it; ${cure}`)
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
