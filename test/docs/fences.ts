/**
 * Finds the fenced code blocks of README.md and docs/, and keeps the rules of their info strings in one place:
 *
 * - `ts` is type-checked and executed on its own, `sqlite:./` in a directory of its own, `DATABASE_URL` with a server;
 *   `ts signature` is a declaration, and only has to parse;
 * - `yaml` is a workflow, a list of steps or a policy, and must be right; `yaml invalid` must be refused; `yaml other` is
 *   neither;
 * - `sh` and `console` lines that call `reprise` are executed and must exit 0, unless the fence says `no-run`;
 * - `sh installed` is executed as a whole by `test/package/install.test.ts`, with the packed files installed;
 * - a page with `file=NAME` in a fence is a session, see `page-session.ts`.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Fence {
  /** `docs/budgets.md:41`, the line of the opening backticks. */
  readonly place: string
  readonly language: string
  readonly flags: readonly string[]
  readonly code: string
}

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

const FENCE = /^( *)(`{3,})([^\n`]*)\n(.*?)^\1\2 *$/gms

export function findFences(text: string, file: string): Fence[] {
  return [...text.matchAll(FENCE)].map(({ 1: indent = '', 3: info = '', 4: body = '', index }) => {
    const [language = '', ...flags] = info.trim().split(/\s+/)
    const line = text.slice(0, index).split('\n').length
    const code = body.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
    return { place: `${file}:${line}`, language, flags, code }
  })
}

export function documentedFences(): Fence[] {
  const docs = path.join(ROOT, 'docs')
  const pages = existsSync(docs) ? readdirSync(docs, { recursive: true, encoding: 'utf8' }) : []
  return fencesIn(['README.md', ...pages.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)])
}

/** Of the packages' own pages. */
export function packageFences(): Fence[] {
  return fencesIn(readdirSync(path.join(ROOT, 'packages')).map((name) => `packages/${name}/README.md`))
}

function fencesIn(files: readonly string[]): Fence[] {
  return files
    .filter((file) => existsSync(path.join(ROOT, file)))
    .flatMap((file) => findFences(readFileSync(path.join(ROOT, file), 'utf8'), file))
}

/** The command lines of a shell fence that call `reprise`, without prompt and `npx`, continuation lines joined. */
export function repriseCommands(code: string): string[] {
  return code
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) =>
      line
        .trim()
        .replace(/^\$ /, '')
        .replace(/^npx (?=reprise\b)/, ''),
    )
    .filter((line) => /^reprise(\s|$)/.test(line))
}

export interface Shown {
  readonly place: string
  readonly command: string
  readonly output: string
  /** Whether it has to end well, as said above. */
  readonly isRun: boolean
}

/** Of a `console` fence with one command, that and what it prints; undefined where nothing is shown. */
export function shownIn({ place, language, flags, code }: Fence): Shown | undefined {
  if (language !== 'console' || !/^\$ .*(reprise|npm run example)/.test(code)) return undefined
  const [command = '', ...lines] = code.split('\n')
  const output = lines.join('\n').trim()
  const isRun = !flags.includes('no-run') && repriseCommands(code).length > 0
  return output === '' ? undefined : { place, command: command.slice(2), output, isRun }
}
