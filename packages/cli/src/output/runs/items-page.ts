/** `reprise show RUN MAP`: a map with a page of its items. Imports tables, words and types. */
import { failureText, type ItemPage, type ItemView, type StepView } from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import { fitTableWithIds, type FittedColumn } from '../fitted-table.js'
import type { Look } from '../look.js'
import { type CommandWords, plainCommand } from '../next-commands.js'
import { countdown, relativeTime } from '../relative-time.js'
import { itemLabel, itemPaint } from '../state-words.js'
import { titleLines, wrapCommand } from '../wrap.js'
import { mapFacts, mapNextLines } from './map-facts.js'

export interface ItemsLook {
  readonly nowMs: number
  readonly limit: number
}

export function itemsPage(
  step: StepView,
  page: ItemPage,
  { nowMs, limit }: ItemsLook,
  look: Look,
  command: CommandWords = plainCommand,
): string[] {
  const { run, map, items, state, next } = page
  const about = look.style.dim(`map of run ${plainText(run)}`)
  const none = state === null ? '  It has no items.' : `  No item is ${state}.`
  const chosen = state === null ? [] : ['--state', state]
  const more = ['show', run, map, ...chosen, '--limit', String(limit), '--after', next ?? '']
  return [
    ...titleLines(look.style.bold(plainText(step.name)), about, look),
    ...mapFacts(step, look),
    '',
    ...(items.length === 0 ? [none] : fitTableWithIds(ids(look), columns(nowMs, look), items, look)),
    ...(next === null ? [] : ['', ...wrapCommand(`${look.style.cyan('more:')} `, command(more), look.screen)]),
    ...mapNextLines({ id: run, isRunning: step.state === 'running' }, [step], look, command),
  ]
}

function ids({ style }: Look): FittedColumn<ItemView>[] {
  return [{ title: 'item', cell: ({ item }) => plainText(item), paint: () => style.bold }]
}

function columns(nowMs: number, look: Look): FittedColumn<ItemView>[] {
  return [
    { title: 'key', cell: keyText, least: 6, expendable: 3 },
    { title: 'state', cell: ({ state }) => itemLabel(state, look), paint: ({ state }) => itemPaint(state, look) },
    { title: 'attempts', align: 'right', cell: ({ attempts, attemptsAllowed }) => `${attempts}/${attemptsAllowed}` },
    { title: 'changed', align: 'right', cell: (item) => relativeTime(item.updatedAtMs, nowMs), expendable: 2 },
    { title: 'last error', cell: (item) => lastWords(item, nowMs), least: 12, expendable: 1 },
  ]
}

/** Not said twice, where the id has it. */
function keyText({ item, key }: ItemView): string {
  return item.endsWith(`.${key}`) ? '' : plainText(key, 200)
}

function lastWords({ state, failure, nextAttemptAtMs, stopReason }: ItemView, nowMs: number): string {
  const cause = failureText(failure)
  if (state === 'retrying' && nextAttemptAtMs !== null) return `next in ${countdown(nextAttemptAtMs, nowMs)}: ${cause}`
  return [stopReason === null ? '' : `(${stopReason})`, cause].filter((text) => text !== '').join(' ')
}
