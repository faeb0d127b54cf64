/**
 * The items that the maps of a workflow would process, without running anything. Of many, people are shown the first.
 * Imports the workflow package and output.
 */
import type { Plan } from '@reprise/workflow'
import { type ItemsPreview, mapsOf, plural, previewItems, type PreviewInput } from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import type { CommandContext } from '../command-context.js'
import { writeJsonLine } from '../output/json.js'
import type { Display } from '../output/display.js'
import { fitTableWithIds } from '../output/fitted-table.js'
import { wrapText } from '../output/wrap.js'

/** The items of one map. */
export interface ListedItems {
  /** The id of the map. */
  readonly map: string
  /** Null where that cannot be known yet. */
  readonly total: number | null
  /** Items that would run now; the others would wait. */
  readonly chosen: number | null
  /** Why the items are not known; null if they are. */
  readonly why: string | null
  readonly items: readonly { readonly id: string; readonly key: string; readonly isChosen: boolean }[]
}

const MAX_SHOWN = 20

/** With `--ndjson`, items are written as they are read; with `--json`, all of them are kept; else the first. */
export async function listItems(plan: Plan, given: PreviewInput, context: CommandContext): Promise<ListedItems[]> {
  const { settings, io } = context
  const listed: ListedItems[] = []
  for (const map of mapsOf(plan)) {
    const items: ListedItems['items'][number][] = []
    const most = settings.ndjson ? 0 : settings.json ? Infinity : MAX_SHOWN
    const found = await previewItems(plan, map, given, ({ id, key }, isChosen) => {
      if (settings.ndjson) writeJsonLine(io.stdout, { map: map.id, id, key, isChosen })
      else if (items.length < most && (isChosen || settings.json)) items.push({ id, key, isChosen })
    })
    listed.push({ map: map.id, ...countsOf(found), items })
  }
  return listed
}

function countsOf(found: ItemsPreview): Pick<ListedItems, 'total' | 'chosen' | 'why'> {
  return 'why' in found ? { total: null, chosen: null, why: found.why } : { ...found, why: null }
}

/** For people: how many, and the first of those that would run. */
export function itemLines({ map, total, chosen, why, items }: ListedItems, display: Display): string[] {
  const name = `items of ${plainText(map)}`
  if (total === null || chosen === null)
    return wrapText('', `${name}: not known yet, ${plainText(why ?? '')}`, display.screen)
  const some = chosen === total ? '' : `, ${chosen} would run and ${total - chosen} wait for a resume`
  const left = chosen - items.length
  return [
    ...wrapText('', `${name}: ${plural(total, 'item')}${some}`, display.screen),
    ...(items.length === 0
      ? []
      : fitTableWithIds(
          [{ title: 'item', cell: ({ id }) => plainText(id) }],
          [{ title: 'key', cell: ({ key }) => plainText(key, 200) }],
          items,
          display,
        )),
    ...(left > 0 ? [`  … and ${left} more; --json lists all of them`] : []),
  ]
}
