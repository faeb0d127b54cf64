/** `reprise map set|pause|continue RUN`: changes a map while it runs. Imports the library, the workflow package and output. */
import { hostname, userInfo } from 'node:os'
import {
  continueMap,
  findOpenMap,
  findRun,
  isConducted,
  type MapLimits,
  type OpenMap,
  pauseMap,
  plural,
  readMapRate,
  roundedDuration,
  setMap,
  withLedger,
} from '@reprise/workflow/internal'
import type { GateChange, Ledger } from 'reprise/durable'
import type { Actor } from 'reprise/internal'
import type { CommandModule, ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { UsageError } from '../failures.js'
import { countOf } from '../input/count-flag.js'
import { refuseOptions } from '../input/refused-options.js'
import { writeJson } from '../output/json.js'
import { commandWords } from '../output/next-commands.js'
import { NO_REASON } from '../runs/actor.js'

type Options = {
  readonly map?: string
  readonly reason?: string
  readonly maxParallel?: string
  readonly rate?: string
  readonly maxFailures?: string
}

type Given = ParsedArguments<{ readonly run: string }, Options>
type Change = (ledger: Ledger, map: OpenMap, actor: Actor) => Promise<GateChange[]>

export const set: CommandModule = {
  run: (given, context) => {
    const limits = limitsOf((given as unknown as Given).options)
    const words = Object.keys(limits).map((name) => WORDS[name as keyof MapLimits](limits))
    return change(given as unknown as Given, context, 'set', words.join(', '), (ledger, map, actor) =>
      setMap(ledger, map, limits, actor),
    )
  },
}

export const pause: CommandModule = {
  run: (given, context) => {
    const words = 'is paused: what runs may end, and nothing further begins'
    return change(given as unknown as Given, context, 'pause', words, pauseMap)
  },
}

export const goOn: CommandModule = {
  run: (given, context) => change(given as unknown as Given, context, 'continue', 'continues', continueMap),
}

const WORDS: Readonly<Record<keyof MapLimits, (limits: MapLimits) => string>> = {
  maxParallel: ({ maxParallel }) => `runs at most ${maxParallel} items at a time`,
  rate: ({ rate }) =>
    rate ? `starts at most ${rate.count} items in ${roundedDuration(rate.perMs)}` : 'has no rate any more',
  maxFailures: ({ maxFailures }) => `stops at ${plural(maxFailures ?? 0, 'failed item')}`,
}

function limitsOf({ maxParallel, rate, maxFailures }: Options): MapLimits {
  const most = countOf('--max-parallel', maxParallel)
  const failures = countOf('--max-failures', maxFailures)
  const limits = {
    ...(most !== undefined && { maxParallel: most }),
    ...(rate !== undefined && { rate: rateOf(rate) }),
    ...(failures !== undefined && { maxFailures: failures }),
  }
  if (Object.keys(limits).length > 0) return limits
  throw new UsageError('nothing is to be set', 'give --max-parallel, --rate or --max-failures')
}

function rateOf(text: string): NonNullable<MapLimits['rate']> | null {
  if (text === 'none') return null
  const rate = readMapRate(text)
  if (rate === undefined)
    throw new UsageError(`--rate ${text} is no rate`, 'such as 20/s, 100/m or 5/500ms; none for no limit')
  return rate
}

async function change(
  { values, options }: Given,
  context: CommandContext,
  action: string,
  words: string,
  act: Change,
): Promise<void> {
  const { io, settings } = context
  const actor = { reason: options.reason ?? NO_REASON, by: `${userInfo().username}@${hostname()}` }
  const done = await withLedger(settings.store, async (ledger) => {
    const record = await findRun(ledger, values.run)
    const map = await findOpenMap(ledger, record, options.map)
    const changes = await act(ledger, map, actor).catch((error: unknown) => refuseOptions(error))
    return { run: record.id, map: map.map.id, changes, isGoing: await isConducted(ledger, record) }
  })
  const { run, map, changes, isGoing } = done
  if (settings.json) return writeJson(io.stdout, { run, map, action, changes })
  if (settings.quiet) return
  io.stderr.write(`Map ${map} of run ${run} ${words}.\n`)
  if (isGoing) return
  io.stderr.write(`No process is executing run ${run}: it holds from its next resume on.\n`)
  io.stderr.write(`next: ${commandWords(settings, io.env)(['resume', run])}\n`)
}
