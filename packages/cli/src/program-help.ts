/** The parts of help that are no options: examples, the environment, exit codes. Imports the table's types. */
import { type CommandGroup, type Example, isThere } from './command.js'
import { EXIT_MEANINGS } from './exit-codes.js'

const WIDTH = 80

/** What to try first; those whose command is not there yet are left out. */
const FIRST: readonly Example[] = [
  ['init', 'a working example to start from'],
  ['explain policy.yaml', 'what a policy does, attempt by attempt'],
  ['simulate policy.yaml', 'what it does in a storm, beside well-known policies'],
  ['run workflow.yaml', 'a workflow, with retries that survive a crash'],
  ['exec --attempts 5 -- ./deploy.sh', 'one command, retried'],
  ['ps --retrying', 'what is waiting for its next attempt'],
  ['resume', 'continue the run that was interrupted'],
]

export function programExamples(groups: readonly CommandGroup[]): string {
  const names = new Set(groups.flatMap(({ commands }) => commands.filter(isThere).map(({ name }) => name)))
  return examplesHelp(FIRST.filter(([typed]) => names.has(typed.split(' ', 1)[0] ?? '')))
}

export function examplesHelp(examples: readonly Example[]): string {
  const widest = examples.reduce((most, [typed, text]) => (text === '' ? most : Math.max(most, typed.length)), 0)
  const lines = examples.map(([typed, text]) => `  reprise ${typed.padEnd(widest)}  ${text}`.trimEnd())
  return lines.length === 0 ? '' : `Examples:\n${lines.join('\n')}\n`
}

export function moreHelp(): string {
  const widest = Math.max(...EXIT_MEANINGS.map(([code]) => code.length))
  const codes = EXIT_MEANINGS.flatMap(([code, meaning]) => hang(`  ${code.padEnd(widest)}  `, meaning))
  return `
Environment:
  REPRISE_JSON, REPRISE_NDJSON, REPRISE_QUIET, REPRISE_VERBOSE, REPRISE_NO_INPUT=1,
  REPRISE_STORE=URL and REPRISE_COLOR=WHEN stand for the options.
  NO_COLOR, CI and pipes get plain lines without colours.

Exit codes:
${codes.join('\n')}`
}

/** Text broken under its lead. */
function hang(lead: string, text: string): string[] {
  const lines = [lead.trimEnd()]
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? ''
    const isFirst = lines.length === 1 && last.length < lead.length
    const longer = isFirst ? lead + word : `${last} ${word}`
    if (longer.length <= WIDTH) lines[lines.length - 1] = longer
    else lines.push(' '.repeat(lead.length) + word)
  }
  return lines
}
