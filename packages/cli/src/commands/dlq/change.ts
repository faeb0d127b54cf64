/** `reprise dlq edit|ack|purge`: changes dead letters by hand. Imports the library, the workflow package and output. */
import { createInterface } from 'node:readline/promises'
import {
  acknowledge,
  dataOf,
  editLetter,
  expectEditable,
  expectOpen,
  findLetter,
  type FoundLetter,
  plural,
  withLedger,
} from '@reprise/workflow/internal'
import type { Json, Ledger } from 'reprise/durable'
import { purgeLetters } from 'reprise/internal'
import type { CommandModule, ParsedArguments } from '../../command.js'
import type { CommandContext } from '../../command-context.js'
import { UsageError } from '../../failures.js'
import { actorOf } from '../../runs/actor.js'
import { editedText } from '../../runs/editor.js'
import { jsonFlag, parseJson } from '../../runs/json-flag.js'
import { refuseOptions } from '../../input/refused-options.js'
import { writeData } from '../../output/json.js'
import { commandWords } from '../../output/next-commands.js'
import { durationOf } from '../ps.js'

type Named = ParsedArguments<
  { readonly letter: string; readonly key?: string },
  { readonly run?: string; readonly reason?: string; readonly input?: string }
>

export const edit: CommandModule = {
  run: async (given, context) => {
    const { values, options } = given as unknown as Named
    const { io, settings } = context
    const done = await withLedger(settings.store, async (ledger) => {
      const found = await findLetter(ledger, values.letter, values.key, options.run)
      expectOpen(found)
      const letter = expectEditable(found)
      const after = await newData(options.input, found, context)
      const actor = actorOf(options.reason)
      const before = await editLetter(ledger, found, after, actor, io.env).catch((error) => refuseOptions(error))
      return { letter, before, after }
    })
    if (writeData(context, done) || settings.quiet) return
    io.stderr.write(`The data of ${done.letter} is changed; what was there before is kept in its history.\n`)
    io.stderr.write(`next: ${commandWords(settings, io.env)(['dlq', 'retry', done.letter])}\n`)
  },
}

/** From the flag, or from an editor on the terminal. */
async function newData(
  input: string | undefined,
  { task }: FoundLetter,
  { io, settings }: CommandContext,
): Promise<Json> {
  if (input !== undefined) return jsonFlag('--input', input)
  if (settings.json || settings.ndjson || !settings.input || io.stdin.isTTY !== true)
    throw new UsageError(
      '--input is missing, and there is no terminal to edit at',
      'such as --input \'{"size": 3}\' or --input @item.json',
    )
  const before = `${JSON.stringify(task === undefined ? null : dataOf(task), undefined, 2)}\n`
  const text = await editedText(before, io.env)
  if (text === before) throw new UsageError('nothing was changed')
  return parseJson('the edited text', text)
}

export const ack: CommandModule = {
  run: async (given, context) => {
    const { values, options } = given as unknown as Named
    const { io, settings } = context
    const { reason } = options
    if (reason === undefined || reason.trim() === '')
      throw new UsageError('--reason is missing', 'say why nothing is to be done: it is recorded')
    const [letter, acknowledged] = await withLedger(settings.store, async (ledger) => {
      const found = await findLetter(ledger, values.letter, values.key, options.run)
      const isNew = await acknowledge(ledger, found, actorOf(reason)).catch((error) => refuseOptions(error))
      return [`${found.letter.scope}/${found.letter.id}`, isNew] as const
    })
    if (writeData(context, { letter, acknowledged }) || settings.quiet) return
    io.stderr.write(`Dead letter ${letter} is ${acknowledged ? '' : 'already '}closed.\n`)
  },
}

type Purge = ParsedArguments<object, { readonly olderThan?: string; readonly dryRun?: boolean; readonly yes?: boolean }>

export const purge: CommandModule = {
  run: async (given, context) => {
    const { options } = given as unknown as Purge
    const { io, settings } = context
    const olderThanMs = durationOf(options.olderThan ?? '7d', '--older-than')
    const { found, removed } = await withLedger(settings.store, async (ledger) => {
      const untilMs = (await ledger.now()) - olderThanMs
      const count = await closedBefore(ledger, untilMs)
      if (options.dryRun === true || count === 0) return { found: count, removed: 0 }
      if (options.yes !== true) await expectYes(count, context)
      return { found: count, removed: await purgeLetters(ledger, { untilMs }) }
    })
    if (writeData(context, { found, removed }) || settings.quiet) return
    const closed = found === 1 ? '1 letter was' : `${found} letters were`
    const dry = `${closed} closed before then${options.dryRun === true ? ' and would be removed' : ''}`
    io.stderr.write(removed > 0 ? `${plural(removed, 'closed letter')} removed.\n` : `${dry}.\n`)
  },
}

async function closedBefore({ analytics }: Ledger, untilMs: number): Promise<number> {
  const { counts } = await analytics.letterTotals({ isOpen: false, untilMs })
  return counts.reduce((sum, { letters }) => sum + letters, 0)
}

async function expectYes(count: number, { io, settings }: CommandContext): Promise<void> {
  const hint = 'add --yes, or --dry-run to count them'
  if (settings.json || settings.ndjson || !settings.input || io.stdin.isTTY !== true)
    throw new UsageError(`${plural(count, 'letter')} would be removed, and there is no terminal to confirm it`, hint)
  const questions = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await questions.question(`Remove ${plural(count, 'closed letter')}? [y/N] `)
    if (!/^y(es)?$/i.test(answer.trim())) throw new UsageError('nothing was removed')
  } finally {
    questions.close()
  }
}
