/**
 * Asks real shells what they complete. A line is given as it is typed, with the cursor at its end; the answer is the
 * candidates in order of the alphabet. Imports Node.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ROOT } from '../docs/fences.js'

export type ShellName = 'bash' | 'zsh' | 'fish'
export const SHELLS: readonly ShellName[] = ['bash', 'zsh', 'fish']

export function hasShell(shell: ShellName): boolean {
  return spawnSync(shell, ['--version']).status === 0
}

/** A directory with `reprise` on the path, where lines are typed. */
export class CompletionRig {
  readonly directory = mkdtempSync(path.join(tmpdir(), 'reprise-completion-'))
  private readonly bin = path.join(this.directory, '.bin')

  constructor() {
    mkdirSync(this.bin)
    const program = path.join(this.bin, 'reprise')
    writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${ROOT}/packages/cli/bin/reprise.js' "$@"\n`)
    chmodSync(program, 0o755)
  }

  run(...args: string[]): { stdout: string; stderr: string; status: number | null } {
    return this.spawn('reprise', args)
  }

  /** What that shell offers for the line, and what it prints beside. */
  complete(shell: ShellName, line: string): { candidates: string[]; said: string } {
    const script = path.join(this.directory, `.completion.${shell}`)
    writeFileSync(script, this.run('completion', shell).stdout)
    const { stdout, stderr } = this.spawn(shell, ARGUMENTS[shell](script, line))
    const lines = stdout.split(/\r?\n/).map((one) => one.split('\t')[0]?.trim() ?? '')
    // Zsh offers flags where nothing else can follow.
    const wantsFlags = /\s-[^\s]*$/.test(line)
    const candidates = lines.filter((one) => one !== '' && (wantsFlags || !one.startsWith('-')))
    return { candidates: [...new Set(candidates)].toSorted(), said: stderr }
  }

  end(): void {
    rmSync(this.directory, { recursive: true, force: true })
  }

  private spawn(program: string, args: string[]): { stdout: string; stderr: string; status: number | null } {
    const { REPRISE_STORE: _, ...rest } = process.env
    const env = { ...rest, PATH: `${this.bin}:${rest['PATH']}`, HOME: this.directory, TERM: 'xterm' }
    return spawnSync(program, args, { cwd: this.directory, env, encoding: 'utf8', timeout: 60_000 })
  }
}

const word = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** A shell that types the line into a shell of its own, on a terminal, and presses Tab. */
const ARGUMENTS: Readonly<Record<ShellName, (script: string, line: string) => string[]>> = {
  bash: (script, line) => ['--norc', '-c', bashAsking(script, line)],
  zsh: (script, line) => ['-f', '-c', zshAsking(script, line)],
  fish: (script, line) => ['--no-config', '-c', `source ${word(script)}; complete -C ${word(line)}`],
}

/** Splits the line as readline does, at blanks and COMP_WORDBREAKS, and calls what `complete -F` names. */
function bashAsking(script: string, line: string): string {
  const pieces = line.match(/[=:]+|[^\s=:]+|\s+/g) ?? []
  const words = pieces.filter((piece) => piece.trim() !== '')
  if (/\s$/.test(line)) words.push('')
  // Behind a separator begins a word that is empty so far.
  else if (/[=:]$/.test(line)) words.push('')
  return `source ${word(script)}
    COMP_LINE=${word(line)} COMP_POINT=${line.length} COMP_CWORD=${words.length - 1}
    COMP_WORDS=(${words.map(word).join(' ')})
    _reprise
    printf '%s\\n' "\${COMPREPLY[@]}"`
}

/** \`compadd\` is asked by every completion function: what it would add is printed. */
function zshAsking(script: string, line: string): string {
  return `zmodload zsh/zpty
    zpty inner zsh -f -i
    zpty -w inner ${word(String.raw`PROMPT=; unsetopt zle_bracketed_paste 2>/dev/null; autoload -U compinit; compinit -u -D; source ${script}`)}
    zpty -w inner ${word(ZSH_SPY)}
    zpty -w inner 'echo REA""DY'
    zpty -r -m inner text '*READY*'
    zpty -n -w inner ${word(line)}$'\\t'
    zpty -r -m inner text '*<END>*'
    print -r -- "\${text}" | tr -d '\\r' | sed -n '/<BEGIN>/,/<END>/p' | grep -v '<BEGIN>\\|<END>'
    zpty -d inner`
}

const ZSH_SPY = `compadd() {
  if [[ $@[1,(i)(-|--)] == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return $?; fi
  typeset -a spied; builtin compadd -A spied "$@"
  (( $#spied )) && spied_all+=("\${spied[@]}")
  builtin compadd "$@"
}
spied_report() { spied_all=(); zle complete-word; print; print '<BEG''IN>'; print -rl -- "\${spied_all[@]}"; print '<E''ND>'; }
zle -N spied_report; bindkey '^I' spied_report; zstyle ':completion:*' verbose no`
