/** Programs that execute one of their arguments, or what they read. Imports nothing. */

/** By the last part of its path; `option` is the one before the program text, `glued` an option with the text in one word. */
export interface Interpreter {
  readonly names: RegExp
  readonly option: RegExp
  readonly glued?: RegExp
}

/** `$SHELL`, `${BASH}`: a shell by its variable. */
const SHELL_NAMES =
  '(?:ba|rba|da|a|k|mk|z|fi|c|tc|ya|po|o|pw)?sh|ksh93|\\$\\{?(?:[A-Za-z_]*_)?(?:SH|SHELL|BASH|ZSH|KSH)\\}?'
const SHELLS = new RegExp(`^(?:${SHELL_NAMES})$`)

export const INTERPRETERS: readonly Interpreter[] = [
  { names: SHELLS, option: /^-[A-Za-z]*c[A-Za-z]*$|^-Command$/ },
  {
    names: /^(?:su|runuser|flock|script)$/,
    option: /^-[A-Za-z]*c$|^--(?:session-)?command$/,
    glued: /^-[A-Za-z]*c(?=.)|^--(?:session-)?com[a-z]*=/,
  },
  { names: /^python[\d.]*$/, option: /^-[A-Za-z]*c$/, glued: /^-[A-Za-bd-z]*c(?=.)/ },
  {
    names: /^(?:node|nodejs|bun|deno)$/,
    option: /^(?:-e|-p|-pe|--eval|--print|eval)$/,
    glued: /^--(?:eval|print)=|^-[ep]+(?=.)/,
  },
  { names: /^(?:perl|ruby)[\d.]*$/, option: /^-[A-Za-z0-9]*[eE]$/, glued: /^-[A-DF-Za-df-z0-9]*[eE](?=.)/ },
  { names: /^php[\d.]*$/, option: /^(?:-r|--run)$/, glued: /^-r(?=.)/ },
  { names: /^(?:Rscript|lua[\d.]*|luajit|osascript)$/, option: /^-e$/, glued: /^-e(?=.)/ },
  { names: /^env$/, option: /^-[A-Za-z0-9]*S$|^--split-string$/, glued: /^-[A-Za-z0-9]*S(?=.)|^--split-string=/ },
]

/** Those that take their program from stdin when they are given none. */
export const STDIN_INTERPRETERS = new RegExp(
  `^(?:${SHELL_NAMES}|python[\\d.]*|node|nodejs|perl|ruby|php[\\d.]*|Rscript|lua[\\d.]*|at|batch)$`,
)
/** Run another program, which they are given as arguments. A name that is expanded may be one of them. */
export const WRAPPERS =
  /^(?:sudo|doas|env|nice|ionice|chrt|taskset|timeout|nohup|time|xargs|parallel|find|setsid|stdbuf|unbuffer|chroot|su|runuser|flock|script|docker|podman|kubectl|oc|nsenter|unshare|systemd-run|busybox|toybox|strace|fakeroot|bwrap)$|^$|^\$/
/** Commands of the shell that run a file. */
export const SOURCES = /^(?:source|\.)$/
export const STDIN_FILE = /^(?:\/dev\/stdin|\/dev\/fd\/0|\/proc\/self\/fd\/0)$/

/** A language of its own, in which commands can be run. */
export interface Script {
  readonly names: RegExp
  /** Before a program text. */
  readonly option: RegExp
  /** The option with the text in one word. */
  readonly glued: RegExp
  /** Names a file with the program. */
  readonly file: RegExp
  /** The word behind it is none of the program. */
  readonly withValue: RegExp
  readonly cure: string
}

export const SCRIPTS: readonly Script[] = [
  {
    names: /^[gmn]?awk$/,
    option: /^(?:-e|--source)$/,
    glued: /^--source=/,
    file: /^-f|^--file/,
    withValue: /^-[vF]$|^--(?:assign|field-separator)$/,
    cure: 'give it as a variable: `awk -v value="${…}" \'… value …\'`',
  },
  {
    names: /^g?sed$/,
    option: /^-[nErsuz]*e$|^--expression$/,
    glued: /^-[nErsuz]*e(?=.)|^--expression=/,
    file: /^-[nErsuz]*f|^--file/,
    withValue: /^-l$|^--line-length$/,
    cure: 'write `value=${…}` and `"${text//pattern/"$value"}"`, or use `awk -v value="${…}"`',
  },
]
