/**
 * Writes docs/commands.md from the table of commands: `node scripts/command-reference.mjs`; with `--check` it writes
 * nothing and fails if the page is not what it would write. Commands that cannot be called yet are left out.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { tsImport } from 'tsx/esm/api'

const page = new URL('../docs/commands.md', import.meta.url)
const sources = new URL('../packages/cli/src/', import.meta.url)

/** @param {string} file */
const load = (file) => tsImport(new URL(file, sources).href, import.meta.url)

/** @type {typeof import('../packages/cli/src/command.js')} */
const { isThere } = await load('command.ts')
/** @type {typeof import('../packages/cli/src/commands/command-table.js')} */
const { COMMAND_GROUPS } = await load('commands/command-table.ts')
/** @type {typeof import('../packages/cli/src/exit-codes.js')} */
const { EXIT_MEANINGS } = await load('exit-codes.ts')
/** @type {typeof import('../packages/cli/src/settings.js')} */
const { SETTINGS } = await load('settings.ts')

/** @typedef {import('../packages/cli/src/command.js').CommandEntry} CommandEntry */
/** @typedef {import('../packages/cli/src/command.js').CommandOption} CommandOption */

/** @param {readonly string[]} head @param {readonly (readonly string[])[]} rows */
function table(head, rows) {
  const line = (/** @type {readonly string[]} */ cells) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

/** @param {string} text */
const code = (text) => `\`${text}\``

/** @param {string} text */
const fence = (text) => `\`\`\`sh no-run\n${text}\n\`\`\``

/** @param {CommandOption} option */
function optionRow({ flags, text, choices, repeats }) {
  const words = choices === undefined ? '' : `; one of ${choices.map(code).join(', ')}`
  return [code(flags), `${text}${words}${repeats === true ? '; may be repeated' : ''}`]
}

/** @param {CommandEntry} entry @param {string} path @param {number} level @returns {string[]} */
function commandSection(entry, path, level) {
  const { name, summary, values = [], options = [], examples, more, subcommands = [] } = entry
  const full = `${path} ${name}`
  const usage = [full, ...values.map(([value]) => value), ...(options.length > 0 ? ['[options]'] : [])].join(' ')
  const widest = examples.reduce((most, [typed, text]) => (text === '' ? most : Math.max(most, typed.length)), 0)
  const lines = examples.map(([typed, text]) =>
    text === '' ? `reprise ${typed}` : `reprise ${typed.padEnd(widest)}  # ${text}`,
  )
  const there = subcommands.filter(isThere)
  return [
    `${'#'.repeat(level)} ${code(there.length > 0 ? full : usage)}`,
    `${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}.`,
    ...(there.length > 0 ? [] : [fence(lines.join('\n'))]),
    ...(values.length > 0
      ? [
          table(
            ['argument', ''],
            values.map(([value, text]) => [code(value), text]),
          ),
        ]
      : []),
    ...(options.length > 0 ? [table(['option', ''], options.map(optionRow))] : []),
    ...(more === undefined ? [] : [/^ {2}|^\{/m.test(more) ? `\`\`\`text\n${more}\n\`\`\`` : more]),
    ...there.flatMap((subcommand) => commandSection(subcommand, full, level + 1)),
  ]
}

const groups = COMMAND_GROUPS.map(({ title, commands }) => ({ title, commands: commands.filter(isThere) })).filter(
  ({ commands }) => commands.length > 0,
)

const overview = groups.flatMap(({ title, commands }) =>
  commands.map(({ name, summary }, index) => [index === 0 ? title : '', code(`reprise ${name}`), summary]),
)

const text = `# Commands

<!-- Made from the table of commands by \`node scripts/command-reference.mjs\`. Do not edit. -->

The same as \`reprise help COMMAND\`. Data goes to stdout, messages go to stderr.

${table(['', 'command', 'does'], overview)}

${groups.flatMap(({ commands }) => commands.flatMap((entry) => commandSection(entry, 'reprise', 2))).join('\n\n')}

## Options of every command

They may stand before or after the command's name. The option wins over the variable.

${table(
  ['option', 'variable', ''],
  SETTINGS.map(([flags, variable, meaning]) => [code(flags), code(variable), meaning]),
)}

\`--color\` is \`auto\`, \`always\` or \`never\`. Colours, bars and the live view are for terminals: \`NO_COLOR\`, \`CI\` and pipes
get plain lines.

## Exit codes

${table(['code', 'means'], EXIT_MEANINGS)}

What is refused (4) is \`{ "refused": { "kind", "message", "details", "next" } }\` with \`--json\`, and what is wrong (2, 74)
\`{ "problems": [{ "file", "line", "column", "path", "message", "suggestion" }] }\`.
`

if (!process.argv.includes('--check')) {
  writeFileSync(page, text)
} else if (readFileSync(page, 'utf8') !== text) {
  console.error(`${fileURLToPath(page)} is not what the table says: run \`node scripts/command-reference.mjs\``)
  process.exitCode = 1
}
