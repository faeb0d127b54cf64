/** `reprise dlq list|groups|show|stats`: reads dead letters. Imports the workflow package and output. */
import {
  findLetter,
  foundLetters,
  ifKept,
  letterDetail,
  letterGroups,
  letterStats,
  type LetterView,
  letterView,
  StateDirectory,
  stateDirectoryOf,
  withLedger,
} from '@reprise/workflow/internal'
import type { Ledger } from 'reprise/durable'
import type { CommandModule, ParsedArguments } from '../../command.js'
import type { CommandContext } from '../../command-context.js'
import { countOf } from '../../input/count-flag.js'
import { cursorOf, cursorText, selectionOf, type WhichOptions } from '../../input/letter-selection.js'
import { writePage } from '../../output/github-commands.js'
import { writeData, writeListData } from '../../output/json.js'
import { groupsTable, letterPage, lettersTable, statsLines } from '../../output/letters/tables.js'
import { displayFor } from '../../output/display.js'
import { commandWords } from '../../output/next-commands.js'
import { noStoreLines } from '../../output/no-store.js'

type Given = ParsedArguments<
  { readonly of?: string },
  WhichOptions & { readonly limit?: string; readonly after?: string }
>

const USUAL_LIMIT = 50

interface Page {
  readonly letters: readonly LetterView[]
  readonly next: string | null
  readonly nowMs: number
}

export const list: CommandModule = {
  run: async (given, context) => {
    const { values, options } = given as unknown as Given
    const limit = countOf('--limit', options.limit) ?? USUAL_LIMIT
    const found = await ifKept(context.settings.store, (ledger) => pageOf(ledger, values.of, options, limit))
    const { io, settings } = context
    const { letters, next, nowMs } = found ?? { letters: [], next: null, nowMs: Date.now() }
    if (writeListData(context, { letters, next }, letters)) return
    if (found === undefined) return print(context, noStoreLines(settings.store))
    if (letters.length === 0) return print(context, ['No dead letter fits.'])
    print(context, lettersTable(letters, nowMs, displayFor(io, settings)))
    if (next !== null && !settings.quiet) io.stderr.write(`There are more. Continue with --after ${next}\n`)
  },
}

async function pageOf(ledger: Ledger, of: string | undefined, options: Given['options'], limit: number): Promise<Page> {
  const after = options.after === undefined ? undefined : cursorOf(options.after)
  // One more tells that there are more.
  const selection = { ...(await selectionOf(ledger, of, options)), ...(after && { after }), wanted: limit + 1 }
  const letters: LetterView[] = []
  let last: string | null = null
  for await (const page of foundLetters(ledger, selection))
    for (const { letter, task } of page) {
      if (letters.length === limit) return { letters, next: last, nowMs: await ledger.now() }
      letters.push(letterView(letter, task))
      last = cursorText(letter)
    }
  return { letters, next: null, nowMs: await ledger.now() }
}

export const groups: CommandModule = {
  run: async (given, context) => {
    const { values, options } = given as unknown as Given
    const { io, settings } = context
    const found = await ifKept(settings.store, async (ledger) => {
      const selection = await selectionOf(ledger, values.of, options)
      return [await letterGroups(ledger, selection), await ledger.now()] as const
    })
    const [all, nowMs] = found ?? [[], Date.now()]
    if (writeListData(context, { groups: all }, all)) return
    if (found === undefined) return print(context, noStoreLines(settings.store))
    print(context, all.length === 0 ? ['No dead letter fits.'] : groupsTable(all, nowMs, displayFor(io, settings)))
  },
}

export const stats: CommandModule = {
  run: async (given, context) => {
    const { values, options } = given as unknown as Given
    const [all, nowMs] = await withLedger(context.settings.store, async (ledger) => {
      const selection = await selectionOf(ledger, values.of, { ...options, state: 'all' })
      return [await letterStats(ledger, selection), await ledger.now()] as const
    })
    if (writeData(context, all)) return
    print(context, statsLines(all, nowMs))
  },
}

type Named = ParsedArguments<{ readonly letter: string; readonly key?: string }, { readonly run?: string }>

export const show: CommandModule = {
  run: async (given, context) => {
    const { values, options } = given as unknown as Named
    const { io, settings } = context
    const [detail, nowMs] = await withLedger(settings.store, async (ledger) => {
      const found = await findLetter(ledger, values.letter, values.key, options.run)
      const state = StateDirectory.at(stateDirectoryOf(settings.store))
      return [await letterDetail(ledger, found, state), await ledger.now()] as const
    })
    if (writeData(context, detail)) return
    print(context, letterPage(detail, nowMs, displayFor(io, settings)))
    if (detail.state === 'closed' || settings.quiet) return
    const words = commandWords(settings, io.env)
    for (const next of nextAfter(detail)) io.stderr.write(`next: ${words(next)}\n`)
  },
}

/** What helps with an open letter. */
function nextAfter({ letter, state, kind, run, id }: LetterView): string[][] {
  if (state !== 'undecided') return [['dlq', 'retry', letter]]
  const decide = kind === 'step' && run !== null ? ['resume', run] : ['dlq', 'decide', letter]
  const about = kind === 'step' ? [id] : []
  return [
    [...decide, '--done', ...about],
    [...decide, '--rerun', ...about],
  ]
}

function print({ io }: CommandContext, lines: readonly string[]): void {
  writePage(io, `${lines.join('\n')}\n`)
}
