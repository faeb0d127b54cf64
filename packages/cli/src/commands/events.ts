/** `reprise events RUN`: what happened to a run, in order. Imports the workflow package and output. */
import { type EventView, viewEvents } from '@reprise/workflow'
import { EventFollower, eventPages, withLedger } from '@reprise/workflow/internal'
import type { Json } from 'reprise/durable'
import { plainText } from 'reprise/internal'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { drained } from '../output/backpressure.js'
import { writeJson, writeJsonLine } from '../output/json.js'
import { eventLine } from '../output/runs/event-line.js'
import { displayFor } from '../output/display.js'
import { findRunOrLast } from '../runs/run-argument.js'
import { follow } from '../runs/follow.js'
import { writePage } from '../output/github-commands.js'

type Options = {
  readonly follow?: boolean
  readonly type?: readonly string[]
}

export async function run(
  { values, options }: ParsedArguments<{ readonly run?: string }, Options>,
  context: CommandContext,
): Promise<void> {
  const { io, settings } = context
  const display = displayFor(io, settings)
  const isWanted = ({ type }: EventView): boolean => options.type === undefined || options.type.includes(type)
  await withLedger(settings.store, async (ledger) => {
    const { id } = await findRunOrLast(ledger, values.run)
    if (settings.json && options.follow !== true)
      return writeJson(io.stdout, { events: (await viewEvents(ledger, id)).filter(isWanted) })
    const types = new Set<string>()
    let count = 0
    const tell = (event: EventView): void => {
      types.add(event.type)
      if (!isWanted(event)) return
      count++
      if (settings.ndjson || settings.json) writeJsonLine(io.stdout, event)
      else writePage(io, `${eventLine(withAttempt(event), display)}\n`)
    }
    const tellPages = async (pages: AsyncIterable<readonly EventView[]>): Promise<void> => {
      for await (const page of pages) {
        for (const event of page) tell(event)
        await drained(io.stdout)
      }
    }
    const follower = new EventFollower(ledger, id)
    if (options.follow === true) await follow(ledger, id, true, () => tellPages(follower.news()))
    else await tellPages(eventPages(ledger, id))
    if (count === 0 && options.type !== undefined && !settings.quiet)
      io.stderr.write(`${noneOfType(id, options.type, [...types])}\n`)
  })
}

/** Nothing would be printed for a type that is misspelt: this names the types that there are. */
function noneOfType(id: string, wanted: readonly string[], types: readonly string[]): string {
  return plainText(`Run ${id} has no event of type ${wanted.join(', ')}. Its types are ${types.join(', ')}.`, 1000)
}

/** For people it is one of the details. */
function withAttempt(event: EventView): EventView {
  const { attempt, detail } = event
  return attempt === null ? event : { ...event, detail: { attempt, ...(detail as Readonly<Record<string, Json>>) } }
}
