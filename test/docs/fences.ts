/**
 * Finds the fenced code blocks of README.md and docs/, and keeps the rules of their info strings in one place:
 *
 * - `ts` is type-checked and executed on its own, `sqlite:./` in a directory of its own; `ts signature` is a declaration,
 *   and only has to parse;
 * - `yaml` is parsed and, if it holds a policy, normalised; a workflow, or a list of steps, is planned; what says `yaml
 *   invalid` must be refused;
 * - `sh` and `console` lines that call `reprise` are executed and must exit 0, unless the fence says `no-run`;
 * - a page with `file=NAME` in a fence is a story, see `story.ts`.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { POLICY_FIELDS } from '../../packages/reprise/src/core/policy-fields.js'

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
  const files = ['README.md', ...pages.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)]
  return files
    .filter((file) => existsSync(path.join(ROOT, file)))
    .flatMap((file) => findFences(readFileSync(path.join(ROOT, file), 'utf8'), file))
}

/** Those of the packages' own pages. */
export function packageReadmeFences(): Fence[] {
  const files = ['cli', 'reprise', 'workflow'].map((name) => `packages/${name}/README.md`)
  return files
    .filter((file) => existsSync(path.join(ROOT, file)))
    .flatMap((file) => findFences(readFileSync(path.join(ROOT, file), 'utf8'), file))
}

const policyFields = new Set(POLICY_FIELDS.flatMap((field) => [field.yaml, field.typescript]))

/** The policy in a YAML document: what `retry:` holds, or the document itself; undefined if it is something else. */
export function policyIn(document: unknown): unknown {
  if (typeof document !== 'object' || document === null) return undefined
  if ('retry' in document) return document.retry
  return Object.keys(document).some((key) => policyFields.has(key)) ? document : undefined
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
