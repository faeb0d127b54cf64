/**
 * Pages whose files and commands belong together: a page with a fence that says `file=NAME` is a session. It is typed from top
 * to bottom in a directory of its own, by one shell, with the built command line:
 *
 * - a fence with `file=NAME` is written there, whatever its language;
 * - in a `console` fence every line that begins with `$ ` is typed, those that begin with `> ` go on with it. What stands
 *   below must be what is printed; nothing below means that it is not shown. `…` stands for anything, alone in a line for
 *   any number of lines;
 * - a command must exit 0, unless the next one is `echo $?`, or it is the last of a fence that says `exit=N`.
 *
 * What differs from one time to the next (times, pids, paths, ids by chance) is made the same on both sides. Waits that a
 * policy chose are compared. Imports Node and the fences.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import path from 'node:path'
import { type Fence, ROOT } from './fences.js'

interface Typed {
  readonly place: string
  readonly command: string
  /** What is shown of it; empty if nothing is. */
  readonly shown: readonly string[]
  /** Null: whatever it is, the next command asks for it. */
  readonly code: number | null
}

export type Part = { readonly file: string; readonly text: string; readonly place: string } | Typed

export function isPageSession(fences: readonly Fence[]): boolean {
  return fences.some((fence) => fileOf(fence) !== undefined)
}

/** By page, in order. */
export function pagesOf(fences: readonly Fence[]): Map<string, Fence[]> {
  const pages = new Map<string, Fence[]>()
  for (const fence of fences) {
    const page = fence.place.replace(/:\d+$/, '')
    pages.set(page, [...(pages.get(page) ?? []), fence])
  }
  return pages
}

export function withoutPageSessions(fences: readonly Fence[]): Fence[] {
  return [...pagesOf(fences).values()].filter((own) => !isPageSession(own)).flat()
}

/** The files and commands of a page, in order. */
export function partsOf(fences: readonly Fence[]): Part[] {
  return fences.flatMap((fence): Part[] => {
    const file = fileOf(fence)
    if (file !== undefined) return [{ file, text: fence.code, place: fence.place }]
    return fence.language === 'console' && !fence.flags.includes('no-run') ? typedIn(fence) : []
  })
}

function fileOf({ flags }: Fence): string | undefined {
  return flags.find((flag) => flag.startsWith('file='))?.slice('file='.length)
}

function typedIn({ code, flags, place }: Fence): Typed[] {
  const commands: { command: string; shown: string[] }[] = []
  for (const line of code.trimEnd().split('\n')) {
    const last = commands.at(-1)
    if (line.startsWith('$ ')) commands.push({ command: line.slice(2), shown: [] })
    else if (last === undefined) throw new Error(`${place}: begins with an output`)
    else if (line.startsWith('> ') && last.shown.length === 0) last.command += `\n${line.slice(2)}`
    else last.shown.push(line)
  }
  const exit = flags.find((flag) => flag.startsWith('exit='))?.slice('exit='.length)
  return commands.map(({ command, shown }, index) => {
    const isAsked = commands[index + 1]?.command.includes('$?') ?? false
    const isLast = index === commands.length - 1
    return { place, command, shown, code: isAsked ? null : isLast && exit !== undefined ? Number(exit) : 0 }
  })
}

/** A shell in a directory of its own, in which `reprise` is the built command line and programs find the packages. */
export class Shell {
  readonly directory: string
  private readonly own: string
  private readonly database: string | undefined
  private readonly child: ChildProcess
  private output = ''
  private count = 0
  private wake: () => void = () => undefined

  /** `database`: the address of a server for pages that use one, as $DATABASE_URL. They show it as SHOWN_DATABASE. */
  constructor(database?: string) {
    this.database = database
    this.own = realpathSync(mkdtempSync(path.join(tmpdir(), 'reprise-session-')))
    this.directory = path.join(this.own, 'page')
    const bin = path.join(this.own, 'bin')
    for (const directory of [this.directory, bin]) mkdirSync(directory)
    symlinkSync(path.join(ROOT, 'packages/cli/bin/reprise.js'), path.join(bin, 'reprise'))
    symlinkSync(path.join(ROOT, 'node_modules'), path.join(this.own, 'node_modules'))
    const plain = Object.entries(process.env).filter(([name]) => !/^(NO_COLOR|FORCE_COLOR|CI|REPRISE_.*)$/.test(name))
    const env = {
      ...Object.fromEntries(plain),
      PATH: `${bin}${path.delimiter}${process.env['PATH']}`,
      LANG: 'C.UTF-8',
      ...(database !== undefined && { DATABASE_URL: database }),
    }
    const options = { cwd: this.directory, env, detached: true, stdio: ['pipe', 'pipe', 'inherit'] as const }
    this.child = spawn('bash', ['--noprofile', '--norc'], { ...options, stdio: [...options.stdio] })
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => this.hear(text))
    this.child.once('close', () => this.hear('\nthe shell has ended\n'))
    this.child.stdin?.write('exec 2>&1\n')
  }

  write(name: string, text: string): void {
    const file = path.join(this.directory, name)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, text)
  }

  /** Stdout and stderr together, as they came. */
  async type(command: string): Promise<{ readonly output: string; readonly code: number }> {
    const mark = `end-of-command-${++this.count}`
    const file = path.join(this.own, 'command.sh')
    writeFileSync(file, `${command}\n`)
    this.output = ''
    // `$?` is what the command before ended with, as if it had been typed by hand.
    this.child.stdin?.write(`(exit \${code:-0}); . ${file} < /dev/null; code=$?; printf '${mark} %d\\n' $code\n`)
    const end = new RegExp(`${mark} (\\d+)\\n`)
    for (;;) {
      const found = end.exec(this.output)
      if (found) return { output: this.output.slice(0, found.index), code: Number(found[1]) }
      if (this.child.exitCode !== null) throw new Error(`the shell ended: ${this.output}`)
      await new Promise<void>((resolve) => (this.wake = resolve))
    }
  }

  /** What makes the same of two outputs that only differ by time and place; as lines. */
  steady(text: string, command: string): string[] {
    const named = this.database?.replace(/:[^:@/]*@/, '@') ?? SHOWN_DATABASE
    const plain = text.replaceAll(this.directory, '…').replaceAll(hostname(), 'HOST').replaceAll(named, SHOWN_DATABASE)
    const isAboutPolicies = /\breprise (explain|validate|schema|simulate)\b/.test(command)
    const lines = plain.split('\n').filter((line) => !KILLED.test(line))
    return lines.map((line) => (isAboutPolicies ? line.trimEnd() : withoutChance(line)))
  }

  async end(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('close', resolve))
    if (this.child.exitCode === null && this.child.pid !== undefined) {
      process.kill(-this.child.pid, 'SIGKILL')
      await ended
    }
    rmSync(this.own, { recursive: true, force: true })
  }

  private hear(text: string): void {
    this.output += text
    this.wake()
  }
}

const SHOWN_DATABASE = 'postgres://app@db.example/orders'

/** What bash says of jobs that were killed. */
const KILLED = /^\S+: line \d+: +\d+ (Killed|Terminated)\b/
const DURATION =
  /(?<!\bRetrying .* after |(?<!\btook \S+, )\bwaited |\bwaited \S+ of )\b\d+(?:\.\d+)?(?:ms|s|m|h|d)(?:\d+(?:\.\d+)?(?:ms|s|m|h))*\b/g

function withoutChance(line: string): string {
  return line
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'UUID')
    .replaceAll(/-\d{6}-[0-9a-f]{6}\b/g, '-ID')
    .replaceAll(/\b(pid|process) \d+ on \S+/g, '$1 N on HOST')
    .replaceAll(/\bits lease runs out in \d+ s\b/g, 'its lease runs out in N s')
    .replaceAll(/\b(durationMs|dueAtMs|nextAttemptAtMs)=[\d.]+/g, '$1=N')
    .replaceAll(/"(\w+(?:AtMs|durationMs))": [\d.]+/g, '"$1": N')
    .replaceAll(DURATION, 'D')
    .replaceAll(/\b(?:D ago|now)\b/g, 'WHEN')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** Where the shown output is not the printed one; undefined if it is. Both are steady. */
export function differenceOf(shown: readonly string[], printed: readonly string[]): string | undefined {
  const lines = [...printed]
  while (lines.at(-1) === '') lines.pop()
  const matches = (at: number, of: number): boolean => {
    const line = shown[of]
    if (line === undefined) return at === lines.length
    if (line.trim() === '…') return matches(at, of + 1) || (at < lines.length && matches(at + 1, of))
    return at < lines.length && isLike(line, lines[at] ?? '') && matches(at + 1, of + 1)
  }
  return matches(0, 0) ? undefined : lines.join('\n')
}

function isLike(shown: string, printed: string): boolean {
  const parts = shown.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`).test(printed)
}
