/**
 * `reprise show RUN [STEP] [ITEM]`: a run with its steps, a step with its attempts, a map with a page of its items, or one
 * item. Imports the workflow package and output.
 */
import {
  findItem,
  findMap,
  findStep,
  type ItemState,
  pageOfItems,
  runReader,
  viewItem,
  viewRunPage,
  withLedger,
} from '@reprise/workflow/internal'
import type { Ledger, RunRecord } from 'reprise/durable'
import type { ParsedArguments } from '../command.js'
import type { CommandContext } from '../command-context.js'
import { UsageError } from '../failures.js'
import { countOf } from '../input/count-flag.js'
import { writeJson } from '../output/json.js'
import { displayFor } from '../output/display.js'
import { commandWords } from '../output/next-commands.js'
import { itemsPage } from '../output/runs/items-page.js'
import { runPage } from '../output/runs/run-page.js'
import { stepPage } from '../output/runs/step-page.js'
import { findRunOrLast } from '../runs/run-argument.js'
import { writePage } from '../output/github-commands.js'

type Options = {
  readonly all?: true
  readonly state?: ItemState
  readonly limit?: string
  readonly after?: string
}
type Values = { readonly run?: string; readonly step?: string; readonly item?: string }

/** What is printed, as data and as lines. */
interface Shown {
  readonly data: unknown
  readonly lines: () => string[]
}

/** Of a run with more steps, text lists those that people look for. */
const MOST_STEPS = 1000
const USUAL_LIMIT = 20
/** Items are read with their data, which may be large. */
const MAX_LIMIT = 1000

export async function run(
  { values, options }: ParsedArguments<Values, Options>,
  context: CommandContext,
): Promise<void> {
  const { io, settings } = context
  const shown = await withLedger(settings.store, async (ledger) => {
    const record = await findRunOrLast(ledger, values.run, 'show')
    return shownOf(ledger, record, values, options, context)
  })
  if (settings.json) writeJson(io.stdout, shown.data)
  else writePage(io, `${shown.lines().join('\n')}\n`)
}

async function shownOf(
  ledger: Ledger,
  record: RunRecord,
  { step: named, item }: Values,
  options: Options,
  { io, settings }: CommandContext,
): Promise<Shown> {
  // The ledger's clock, by which all of it was recorded.
  const nowMs = await ledger.now()
  const reader = runReader(ledger, settings.store)
  const display = displayFor(io, settings)
  const command = commandWords(settings, io.env)
  if (named === undefined) {
    expectNoItems(item, options, undefined)
    const most = options.all === true || settings.json ? Infinity : MOST_STEPS
    const page = await viewRunPage(reader, record, most)
    if (page === undefined) throw new Error(`run ${record.id} is not there any more`)
    const { unlisted, ...whole } = page
    return { data: whole, lines: () => runPage(whole, nowMs, display, command, unlisted) }
  }
  if (options.all === true) throw new UsageError('--all is about the steps of a run', `leave ${named} out`)
  const { run: detail, step } = await findStep(reader, record.id, named)
  if (step.kind !== 'map' || !step.map) expectNoItems(item, options, step.name)
  const map = step.map ? await findMap(ledger, record, step.id) : undefined
  if (map === undefined) return { data: step, lines: () => stepPage(detail, step, nowMs, display, command) }
  if (item !== undefined) {
    const view = await viewItem(ledger, record, map, await findItem(ledger, record, map, item), settings.store)
    return { data: view, lines: () => stepPage(detail, view, nowMs, display, command) }
  }
  const limit = limitOf(options.limit)
  const { state, after } = options
  const selection = { limit, ...(state !== undefined && { state }), ...(after !== undefined && { after }) }
  const page = await pageOfItems(ledger, record, map, selection)
  return { data: { ...step, page }, lines: () => itemsPage(step, page, { nowMs, limit }, display, command) }
}

function expectNoItems(item: string | undefined, { state, limit, after }: Options, step: string | undefined): void {
  const given = item ?? (state && '--state') ?? (limit && '--limit') ?? (after && '--after')
  if (given === undefined) return
  const what = step === undefined ? 'name the map as well' : `${step} is no map that has begun`
  throw new UsageError(`${given} is about the items of a map`, what)
}

function limitOf(text: string | undefined): number {
  const limit = countOf('--limit', text) ?? USUAL_LIMIT
  if (limit <= MAX_LIMIT) return limit
  throw new UsageError(`--limit ${limit} is too many for a page`, `at most ${MAX_LIMIT}; --after continues`)
}
