/**
 * Runs `git`. Imports Node only.
 *
 * Invariants: what the environment says of another repository does not count, nor do hooks, signatures and pagers: the
 * program is asked for what these arguments say, and asks nobody back.
 */
import { execFile } from 'node:child_process'

/** Of one answer: lists of files. */
const MAX_BYTES = 256 * 1024 * 1024
/** They lead to another repository, or to a part of this one. */
const FOREIGN =
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|PREFIX|COMMON_DIR|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE)$/
const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'commit.gpgSign=false',
  'rerere.enabled=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'advice.detachedHead=false',
].flatMap((setting) => ['-c', setting])

export class GitError extends Error {
  override readonly name = 'GitError'
  /** Of the program; null if it was not started. Not `exitCode`: that is of an item's own commands. */
  readonly gitCode: number | null
  readonly isMissing: boolean

  constructor(args: readonly string[], cwd: string, { code, stderr }: { code: unknown; stderr: string }) {
    const said = stderr.trim().split('\n').slice(0, 5).join('; ')
    super(`git ${args[0] ?? ''} failed in ${cwd}: ${said === '' ? `exit code ${String(code)}` : said}`)
    this.gitCode = typeof code === 'number' ? code : null
    this.isMissing = code === 'ENOENT'
  }
}

export interface GitOptions {
  /** Written to its standard input. */
  readonly input?: string
  /** Exit codes beside 0 that are answers. */
  readonly answers?: readonly number[]
  readonly env?: Readonly<Record<string, string>>
}

export interface GitAnswer {
  readonly code: number
  /** Without the newline at its end. */
  readonly text: string
}

/** Rejects with a `GitError`. */
export function askGit(cwd: string, args: readonly string[], options: GitOptions = {}): Promise<GitAnswer> {
  const { input = '', answers = [], env = {} } = options
  return new Promise((resolve, reject) => {
    const settings = { cwd, env: { ...ownEnvironment(), ...env }, maxBuffer: MAX_BYTES, encoding: 'utf8' } as const
    const child = execFile('git', [...SETTINGS, ...args], settings, (error, stdout, stderr) => {
      const code = error === null ? 0 : (error as { readonly code?: unknown }).code
      if (error === null || answers.includes(code as number))
        resolve({ code: code as number, text: stdout.replace(/\n$/, '') })
      else reject(new GitError(args, cwd, { code, stderr: stderr === '' ? error.message : stderr }))
    })
    // It may end without having read anything.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input)
  })
}

/** The text that it answers. */
export async function git(cwd: string, ...args: readonly string[]): Promise<string> {
  return (await askGit(cwd, args)).text
}

function ownEnvironment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !FOREIGN.test(name))
  return { ...Object.fromEntries(own), LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_EDITOR: ':', GIT_OPTIONAL_LOCKS: '0' }
}
