/** `reprise breakers list` and `reprise budgets list`. Imports tables, words and types. */
import type { BreakerView, BudgetView } from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import { fitTable } from '../fitted-table.js'
import { flatText } from '../flat-text.js'
import type { Display } from '../display.js'
import { countdown, relativeTime } from '../relative-time.js'
import type { Style } from '../style.js'

const COLORS: Readonly<Record<BreakerView['state'], keyof Style>> = {
  closed: 'green',
  half_open: 'yellow',
  open: 'red',
}

export function breakersTable(breakers: readonly BreakerView[], nowMs: number, display: Display): string[] {
  if (breakers.length === 0) return ['There are no breakers.']
  return fitTable<BreakerView>(
    [
      { title: 'breaker', cell: ({ name }) => plainText(name), paint: () => display.style.bold, least: 10 },
      { title: 'state', cell: ({ state }) => state, paint: ({ state }) => display.style[COLORS[state]] },
      { title: 'failures', align: 'right', cell: failures, expendable: 1 },
      { title: 'last failed', align: 'right', cell: (breaker) => lastFailed(breaker, nowMs), expendable: 2 },
      { title: 'tries again', align: 'right', cell: (breaker) => probe(breaker, nowMs) },
    ],
    breakers,
    display,
  )
}

function failures({ failures: count, failureThreshold }: BreakerView): string {
  return failureThreshold === null ? String(count) : `${count} of ${failureThreshold}`
}

function lastFailed({ lastFailureAtMs }: BreakerView, nowMs: number): string {
  return lastFailureAtMs === null ? '' : relativeTime(lastFailureAtMs, nowMs)
}

function probe({ state, halfOpenAtMs }: BreakerView, nowMs: number): string {
  if (state !== 'open' || halfOpenAtMs === null) return ''
  const left = countdown(halfOpenAtMs, nowMs)
  return left === 'now' ? left : `in ${left}`
}

export function budgetsTable(budgets: readonly BudgetView[], display: Display): string[] {
  if (budgets.length === 0) return ['There are no budgets.']
  return fitTable<BudgetView>(
    [
      { title: 'budget', cell: ({ name }) => plainText(name), paint: () => display.style.bold, least: 10 },
      { title: 'type', cell: ({ type }) => plainText(type ?? ''), expendable: 1 },
      { title: 'figures', cell: ({ state }) => flatText(state), least: 20 },
    ],
    budgets,
    display,
  )
}
