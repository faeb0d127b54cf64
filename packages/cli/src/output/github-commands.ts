/**
 * Workflow commands of GitHub Actions: lines that its runner obeys, on stdout and stderr alike. Ours fold output and mark
 * failures; those in the output of others are text.
 *
 * Invariant: the runner obeys no text of a step, a name or an error. Text that looks like a command is put between
 * `::stop-commands::TOKEN` and `::TOKEN::`, with a random token. JSON is escaped instead (json.ts). Exceptions: `exec` and
 * `logs` pass on the bytes of commands unchanged. Imports Node and the types of process IO.
 */
import { randomUUID } from 'node:crypto'
import type { Output, ProcessIo } from '../process-io.js'

export function isGitHub(env: ProcessIo['env']): boolean {
  return env['GITHUB_ACTIONS'] === 'true'
}

/** `::error title=Step fetch failed::exit code 1`. */
export function annotation(kind: 'error' | 'warning', title: string, message: string): string {
  return `::${kind} title=${escapeProperty(title)}::${escapeData(message)}`
}

/** What comes between the two is folded under the title, and none of it is obeyed. */
export function groupMarks(title: string): { readonly begin: string; readonly end: string } {
  const stop = stopMarks()
  return { begin: `::group::${escapeData(title)}\n${stop.begin}`, end: `${stop.end}::endgroup::\n` }
}

/** `::name::` is a command at the start of a line, `##[name]` anywhere in it. */
const COMMAND = /::|##\[/

/** Whole lines, as the runner is to see them. */
export function neutralLines(text: string): string {
  if (!COMMAND.test(text)) return text
  const stop = stopMarks()
  return `${stop.begin}${text}${text.endsWith('\n') ? '' : '\n'}${stop.end}`
}

/** Writes text for people to stdout. */
export function writePage({ stdout, env }: Pick<ProcessIo, 'stdout' | 'env'>, text: string): void {
  stdout.write(isGitHub(env) ? neutralLines(text) : text)
}

/** The same IO, in which nothing that is said on stderr is taken for a command. */
export function neutralIo(io: ProcessIo): ProcessIo {
  if (!isGitHub(io.env)) return io
  const { stderr } = io
  const neutral: Output = {
    write: (text) => stderr.write(neutralLines(text)),
    get writable() {
      return stderr.writable !== false
    },
  }
  // Not copied: to read the stdin of the process is to open it.
  return Object.create(io, { stderr: { value: neutral } }) as ProcessIo
}

function stopMarks(): { readonly begin: string; readonly end: string } {
  const word = randomUUID()
  return { begin: `::stop-commands::${word}\n`, end: `::${word}::\n` }
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
