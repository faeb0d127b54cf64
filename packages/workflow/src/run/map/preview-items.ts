/**
 * The items of a map before anything runs: read and selected as the map would, where nothing has to run for that. Imports
 * the library, the items, the plan and its own layer.
 */
import { type Item, readItems } from '../../items/read-items.js'
import { InputDataError } from '../../items/input-data-error.js'
import { InputError } from '../../document/problem.js'
import type { Json } from 'reprise/durable'
import type { MapPlan } from '../../plan/map-plan.js'
import type { Plan } from '../../plan/plan.js'
import { SetupError } from '../../values/setup-error.js'
import { Scope } from '../scope.js'
import type { MapSettings } from './map-settings.js'

export interface PreviewInput extends Pick<MapSettings, 'part' | 'stdin'> {
  readonly params: Readonly<Record<string, Json>>
  readonly env: Readonly<Record<string, string>>
  readonly documentDir: string
}

/** How many items there are, and how many of them would run now; or why that is not known. */
export type ItemsPreview = { readonly total: number; readonly chosen: number } | { readonly why: string }

/** Throws an `InputError` for an input that is wrong, whatever runs before. */
export async function previewItems(
  plan: Plan,
  map: MapPlan,
  given: PreviewInput,
  onItem: (item: Item, isChosen: boolean) => void | Promise<void>,
): Promise<ItemsPreview> {
  const { params, env, documentDir, stdin } = given
  if (map.input.kind === 'command') return { why: 'they are the output of a command, which runs when the map begins' }
  const { values } = new Scope({ runId: '', workflow: plan.name, params, env })
  const none = (): never => {
    throw new InputDataError('<stdin>', 'there is no standard input')
  }
  const part = given.part?.choose(values)
  const counts = { total: 0, chosen: 0 }
  try {
    const openCommand = async (): Promise<never> => none()
    for await (const item of readItems(map, { documentDir, values, openCommand, openStdin: stdin ?? none })) {
      const isChosen = part?.takes(item) ?? true
      counts.total++
      if (isChosen) counts.chosen++
      await onItem(item, isChosen)
    }
    part?.expectFound()
    return counts
  } catch (error) {
    const why = whyNot(error, plan.phases[0]?.id === map.id)
    if (why !== undefined) return { why }
    if (!(error instanceof SetupError)) throw error
    const { suggestion } = error as Partial<InputDataError>
    const message = error instanceof InputDataError ? `${error.place}: ${error.problem}` : error.message
    throw new InputError([{ message, ...(suggestion !== undefined && { suggestion }) }])
  }
}

/** What a step before the map may still cure; undefined for what none does. */
function whyNot(error: unknown, isFirst: boolean): string | undefined {
  if (isFirst || !(error instanceof SetupError)) return undefined
  if (error.code === 'missing_value') return `a step before it gives them (${error.message})`
  const isMissing = (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT'
  if (!isMissing || !(error instanceof InputDataError)) return undefined
  return `${error.place} is not there; a step before the map may write it`
}
