/** `reprise show RUN MAP`: a map with a page of its items. Imports tables, words and types. */
import { failureText, type ItemPage, type ItemView, type StepView } from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import { fitTableWithIds, type FittedColumn } from '../fitted-table.js'
import type { Display } from '../display.js'
import { type CommandWords, plainCommand } from '../next-commands.js'
import { countdown, relativeTime } from '../relative-time.js'
import { itemLabel, itemPaint } from '../state-words.js'
import { titleLines, wrapCommand } from '../wrap.js'
import { mapFacts, mapNextLines } from './map-facts.js'

export interface ItemsPageOptions {
  readonly nowMs: number
  readonly limit: number
}

export function itemsPage(
  step: StepView,
  page: ItemPage,
  { nowMs, limit }: ItemsPageOptions,
  display: Display,
  command: CommandWords = plainCommand,
): string[] {
  const { run, map, items, state, next } = page
  const about = display.style.dim(`map of run ${plainText(run)}`)
  const none = state === null ? '  It has no items.' : `  No item is ${state}.`
  const chosen = state === null ? [] : ['--state', state]
  const more = ['show', run, map, ...chosen, '--limit', String(limit), '--after', next ?? '']
  return [
    ...titleLines(display.style.bold(plainText(step.name)), about, display),
    ...mapFacts(step, display),
    '',
    ...(items.length === 0 ? [none] : fitTableWithIds(ids(display), columns(nowMs, display), items, display)),
    ...(next === null ? [] : ['', ...wrapCommand(`${display.style.cyan('more:')} `, command(more), display.screen)]),
    ...mapNextLines({ id: run, isRunning: step.state === 'running' }, [step], display, command),
  ]
}

function ids({ style }: Display): FittedColumn<ItemView>[] {
  return [{ title: 'item', cell: ({ item }) => plainText(item), paint: () => style.bold }]
}

function columns(nowMs: number, display: Display): FittedColumn<ItemView>[] {
  return [
    { title: 'key', cell: keyText, least: 6, expendable: 3 },
    { title: 'state', cell: ({ state }) => itemLabel(state, display), paint: ({ state }) => itemPaint(state, display) },
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
