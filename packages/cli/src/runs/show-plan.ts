/** What a workflow would run, without running it. Imports the explanation of policies and output. */
import type { Plan, StepPlan } from '@reprise/workflow'
import {
  fillKnown,
  type MapPlan,
  mapsOf,
  type PhasePlan,
  plural,
  type PreviewInput,
  roundedDuration,
} from '@reprise/workflow/internal'
import { normalizePolicy } from 'reprise'
import type { Json } from 'reprise/durable'
import { plainText } from 'reprise/internal'
import type { CommandContext } from '../command-context.js'
import { writeJson } from '../output/json.js'
import { fitTableWithIds, type FittedColumn } from '../output/fitted-table.js'
import { flatText } from '../output/flat-text.js'
import { displayFor } from '../output/display.js'
import { wrapText } from '../output/wrap.js'
import { writePage } from '../output/github-commands.js'
import { errorWords, inputWords, selectionWords } from './map-words.js'
import { itemLines, listItems } from './show-items.js'

/**
 * `given`: the parameters that were given; they stand for their defaults, also in what the steps do. `reading`: how the
 * items of its maps are read.
 */
export async function showPlan(
  plan: Plan,
  given: Readonly<Record<string, Json>>,
  reading: PreviewInput,
  context: CommandContext,
): Promise<void> {
  const { io, settings } = context
  const { name, file, envFiles, concurrency, timeoutMs, secrets, fingerprint } = plan
  const params = { ...plan.params, ...given }
  const steps = plan.phases.map((phase) => filled(phase, params))
  const items = await listItems(plan, reading, context)
  const beside = { params, envFiles, concurrency, timeoutMs, secrets }
  if (settings.json) return writeJson(io.stdout, { name, file, fingerprint, ...beside, steps, maps: items })
  // The items are written.
  if (settings.ndjson && items.length > 0) return
  const display = displayFor(io, settings)
  const ids: FittedColumn<Row>[] = [{ title: 'step', cell: idText }]
  const columns: FittedColumn<Row>[] = [
    { title: 'does', cell: ({ phase }) => plainText(phaseText(phase)), least: 16 },
    { title: 'attempts', align: 'right', cell: ({ phase }) => attemptsText(phase), expendable: 2 },
    { title: 'if it fails', cell: ({ phase }) => failureText(phase), expendable: 1 },
  ]
  const maps = mapsOf({ phases: steps })
  const lines = [
    ...wrapText('', `${plainText(name)}: ${plural(plan.phases.length, 'step')}, nothing is run`, display.screen),
    ...(concurrency === null
      ? []
      : wrapText(
          '  ',
          `alone in group ${plainText(concurrency.group)}, else ${concurrency.onConflict}`,
          display.screen,
        )),
    ...(timeoutMs === null ? [] : [`  at most ${roundedDuration(timeoutMs)} in all`]),
    ...(Object.keys(params).length === 0 ? [] : wrapText('  ', `with ${flatText(params)}`, display.screen)),
    '',
    ...fitTableWithIds(ids, columns, steps.flatMap(rowsOf), display),
    ...maps.flatMap((map) => ['', ...mapLines(map, display.screen)]),
    ...items.flatMap((one) => ['', ...itemLines(one, display)]),
  ]
  writePage(io, `${lines.join('\n')}\n`)
}

interface Row {
  /** `MAP/STEP` for a step that is done for each item. */
  readonly id: string
  readonly phase: PhasePlan
}

function idText({ id, phase }: Row): string {
  const part = phase.kind === 'step' ? phase.part : undefined
  return part === undefined ? plainText(id, MAX_ID) : `${plainText(id, MAX_ID)} (${part})`
}

function rowsOf(phase: PhasePlan): Row[] {
  const inner = phase.kind === 'map' ? [...phase.template, ...phase.onItemError] : []
  return [{ id: phase.id, phase }, ...inner.map((step) => ({ id: `${phase.id}/${step.id}`, phase: step }))]
}

function filled(phase: PhasePlan, params: Readonly<Record<string, Json>>): PhasePlan {
  const fill = <T>(data: T): T => fillKnown(data as Json, params) as T
  const step = (one: StepPlan): StepPlan => ({ ...one, action: fill(one.action) })
  if (phase.kind === 'step') return step(phase)
  const { template, onItemError } = phase
  return { ...phase, input: fill(phase.input), template: template.map(step), onItemError: onItemError.map(step) }
}

/** What the table has no columns for. */
function mapLines(map: MapPlan, width: number): string[] {
  const lead = `  ${plainText(map.id)}: `
  return [
    ...wrapText(lead, plainText(selectionWords(map), MAX_LINE), width, / (?=· )/),
    ...wrapText(' '.repeat(lead.length), plainText(errorWords(map), MAX_LINE), width, / (?=· )/),
  ]
}

const MAX_ID = 260
const MAX_LINE = 2000
const MAX_TEXT = 60

function phaseText(phase: PhasePlan): string {
  const { when } = phase
  const until = phase.kind === 'step' && phase.until !== null ? `  until ${phase.until}` : ''
  const words = phase.kind === 'map' ? `for each item of ${inputWords(phase)}` : actionWords(phase.action)
  const text = words.replaceAll(/\s+/g, ' ').trim()
  const cut = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT - 1)}…` : text
  return `${cut}${when === null ? '' : `  when ${when}`}${until}`
}

function actionWords(action: StepPlan['action']): string {
  switch (action.kind) {
    case 'shell':
      return action.command
    case 'run':
      return action.argv.join(' ')
    case 'http':
      return `${action.method} ${action.url}`
    case 'script':
      return `script ${action.module}`
    case 'claude':
      return `claude ${action.prompt}`
    case 'write_file':
      return `write ${action.path}`
  }
}

function attemptsText({ policy }: PhasePlan): string {
  const { attempts, attemptTimeoutMs } = normalizePolicy(policy).policy
  return attemptTimeoutMs === undefined ? String(attempts) : `${attempts}, ${roundedDuration(attemptTimeoutMs)} each`
}

function failureText({ onFailure }: PhasePlan): string {
  if (typeof onFailure === 'string') return onFailure
  return onFailure.afterwards === 'fail' ? 'fallback, then fail' : 'fallback'
}
