/** `reprise events RUN`: what happened to a run, in order. Imports the workflow package and output. */
import { type EventView, viewEvents } from '@reprise/workflow'
import { withLedger } from '@reprise/workflow/internal'
import type { Json, Ledger } from 'reprise/durable'
import { plainText } from 'reprise/internal'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { writeJson, writeJsonLine } from '../output/json.js'
import { eventLine } from '../output/runs/event-line.js'
import { lookFor } from '../output/look.js'
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
  const { world, settings } = context
  const look = lookFor(world, settings)
  const isWanted = ({ type }: EventView): boolean => options.type === undefined || options.type.includes(type)
  await withLedger(settings.store, async (ledger) => {
    const { id } = await findRunOrLast(ledger, values.run)
    const wanted = async (): Promise<EventView[]> => (await viewEvents(ledger, id)).filter(isWanted)
    if (settings.json && options.follow !== true) return writeJson(world.stdout, { events: await wanted() })
    const tell = (event: EventView): void => {
      if (settings.ndjson || settings.json) writeJsonLine(world.stdout, event)
      else writePage(world, `${eventLine(withAttempt(event), look)}\n`)
    }
    const count =
      options.follow === true ? await tellAsTheyCome(ledger, id, wanted, tell) : tellAll(await wanted(), tell)
    if (count === 0 && options.type !== undefined && !settings.quiet) {
      world.stderr.write(`${noneOfType(id, options.type, await viewEvents(ledger, id))}\n`)
    }
  })
}

function tellAll(events: readonly EventView[], tell: (event: EventView) => void): number {
  for (const event of events) tell(event)
  return events.length
}

/** A run may have very many events: they are read again only if something was written since. */
async function tellAsTheyCome(
  ledger: Ledger,
  id: string,
  wanted: () => Promise<EventView[]>,
  tell: (event: EventView) => void,
): Promise<number> {
  const told = new Set<string>()
  let lookedAt: number | undefined
  await follow(ledger, id, true, async () => {
    const mark = await ledger.changeMark()
    if (mark === lookedAt) return
    lookedAt = mark
    for (const event of await wanted()) {
      const key = JSON.stringify(event)
      if (told.has(key)) continue
      told.add(key)
      tell(event)
    }
  })
  return told.size
}

/** Nothing would be printed for a type that is misspelt: this names the types that there are. */
function noneOfType(id: string, wanted: readonly string[], events: readonly EventView[]): string {
  const types = [...new Set(events.map(({ type }) => type))]
  return plainText(`Run ${id} has no event of type ${wanted.join(', ')}. Its types are ${types.join(', ')}.`, 1000)
}

/** For people it is one of the details. */
function withAttempt(event: EventView): EventView {
  const { attempt, detail } = event
  return attempt === null ? event : { ...event, detail: { attempt, ...(detail as Readonly<Record<string, Json>>) } }
}
