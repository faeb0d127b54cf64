import { RUN_STATES } from '@reprise/workflow/internal'
import { expect, test } from 'vitest'
import type { CommandEntry, CommandModule } from '../command.js'
import { runProgram } from '../program.js'
import { COMMAND_GROUPS } from './command-table.js'
import { STATE_CHOICES } from './table/read-commands.js'

const entries = COMMAND_GROUPS.flatMap(({ commands }) => commands)

/** Of a command and its subcommands, with the words that call it. */
function leaves(entry: CommandEntry, path: readonly string[] = []): { path: string[]; entry: CommandEntry }[] {
  const own = [...path, entry.name]
  const below = (entry.subcommands ?? []).flatMap((one) => leaves(one, own))
  return entry.subcommands === undefined ? [{ path: own, entry }] : below
}

const all = entries.flatMap((entry) => leaves(entry))
const examples = entries.flatMap((entry) => [
  ...(entry.subcommands === undefined ? [] : entry.examples.map(([typed]) => ({ typed, path: [entry.name] }))),
  ...leaves(entry).flatMap(({ path, entry: leaf }) => leaf.examples.map(([typed]) => ({ typed, path }))),
])

test('no two commands share a name', () => {
  expect(new Set(all.map(({ path }) => path.join(' '))).size).toBe(all.length)
})

test('the states that can be asked for are the states that there are', () => {
  expect(STATE_CHOICES).toEqual(RUN_STATES)
})

/** Without what a shell does with it: the words up to a pipe, quotes taken away. */
function wordsOf(typed: string): string[] {
  const own = typed.replace(/ [<|>] .*$/, '')
  return [...own.matchAll(/"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? '')
}

test.each(examples)('`reprise $typed` of its help is understood', async ({ typed, path }) => {
  const called: string[] = []
  const standIn = (entry: CommandEntry, above: string): CommandEntry => {
    const name = `${above}${entry.name}`
    const subcommands = entry.subcommands?.map((one) => standIn(one, `${name} `))
    const run = async (): Promise<void> => void called.push(name)
    // A command with subcommands may do something of its own.
    const load = entry.load && ((): Promise<CommandModule> => Promise.resolve({ run }))
    return { ...entry, ...(load && { load }), ...(subcommands && { subcommands }) }
  }
  const groups = [{ title: 'All', commands: entries.map((entry) => standIn(entry, '')) }]
  let said = ''
  const output = { write: (text: string) => (said += text) }
  const stdin = (async function* (): AsyncGenerator<string> {})()
  const code = await runProgram(wordsOf(typed), { stdin, stdout: output, stderr: output, env: {} }, groups)
  expect({ code, said }).toEqual({ code: 0, said: '' })
  expect(called).toEqual([expect.stringMatching(new RegExp(`^${path.join(' ')}`))])
})

test('help has no line that breaks on a usual terminal, but for examples', () => {
  for (const { entry } of all) {
    for (const line of entry.more?.split('\n') ?? []) expect(line.length, line).toBeLessThanOrEqual(81)
  }
})
