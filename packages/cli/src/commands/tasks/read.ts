/** `reprise tasks list|show`: reads durable tasks of programs. Imports the workflow package and output. */
import { findTask, ifKept, taskDetail, taskPage, withLedger } from '@reprise/workflow/internal'
import type { TaskKey, TaskStatus } from 'reprise/durable'
import type { CommandModule, ParsedArguments } from '../../command.js'
import type { CommandContext } from '../../command-context.js'
import { UsageError } from '../../failures.js'
import { countOf } from '../../input/count-flag.js'
import { writePage } from '../../output/github-commands.js'
import { writeData, writeListData } from '../../output/json.js'
import { displayFor } from '../../output/display.js'
import { noStoreLines } from '../../output/no-store.js'
import { taskPageLines, tasksTable } from '../../output/tasks/tables.js'

type List = ParsedArguments<
  object,
  { readonly name?: string; readonly state?: TaskStatus; readonly limit?: string; readonly after?: string }
>
type Show = ParsedArguments<{ readonly task: string; readonly id?: string }>

const USUAL_LIMIT = 50

export const list: CommandModule = {
  run: async (given, context) => {
    const { name, state, limit, after } = (given as unknown as List).options
    const { io, settings } = context
    const selection = {
      ...(name !== undefined && { name }),
      ...(state !== undefined && { state }),
      ...(after !== undefined && { after: cursorOf(after) }),
      limit: countOf('--limit', limit) ?? USUAL_LIMIT,
    }
    const found = await ifKept(
      settings.store,
      async (ledger) => [await taskPage(ledger, selection), await ledger.now()] as const,
    )
    const [{ tasks, next }, nowMs] = found ?? [{ tasks: [], next: undefined }, Date.now()]
    const cursor = next === undefined ? null : cursorText(next)
    if (writeListData(context, { tasks, next: cursor }, tasks)) return
    if (found === undefined) return print(context, noStoreLines(settings.store))
    if (tasks.length === 0) return print(context, ['No durable task fits.'])
    print(context, tasksTable(tasks, nowMs, displayFor(io, settings)))
    if (cursor !== null && !settings.quiet) io.stderr.write(`There are more. Continue with --after ${cursor}\n`)
  },
}

export const show: CommandModule = {
  run: async (given, context) => {
    const { task, id } = (given as unknown as Show).values
    const { io, settings } = context
    const [detail, nowMs] = await withLedger(settings.store, async (ledger) => {
      const found = await findTask(ledger, task, id)
      return [await taskDetail(ledger, found), await ledger.now()] as const
    })
    if (!writeData(context, detail)) print(context, taskPageLines(detail, nowMs, displayFor(io, settings)))
  },
}

function print({ io }: CommandContext, lines: readonly string[]): void {
  writePage(io, `${lines.join('\n')}\n`)
}

/** Where a list continues, as one word. */
function cursorText({ scope, id }: Pick<TaskKey, 'scope' | 'id'>): string {
  return Buffer.from(JSON.stringify([scope, id])).toString('base64url')
}

function cursorOf(text: string): Pick<TaskKey, 'scope' | 'id'> {
  try {
    const [scope, id] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[]
    if (typeof scope === 'string' && typeof id === 'string') return { scope, id }
  } catch {
    // Said below.
  }
  throw new UsageError(`--after ${text.slice(0, 100)} is no place in a list`, 'take it from the list before')
}
