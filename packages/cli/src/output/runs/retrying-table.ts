/** `reprise ps --retrying`: what waits now, and why. Imports tables, words and types. */
import { failureText, type RetryingView, waitedText } from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import { fitTableWithIds, type FittedColumn } from '../fitted-table.js'
import type { Display } from '../display.js'
import { countdown } from '../relative-time.js'
import { stepLabel, stepPaint } from '../state-words.js'

export function retryingTable(waiting: readonly RetryingView[], nowMs: number, display: Display): string[] {
  if (waiting.length === 0) return ['No step is waiting.']
  const ids: FittedColumn<RetryingView>[] = [
    { title: 'scope', cell: (one) => plainText(`${one.scopeKind} ${one.scope}`) },
    { title: 'id', cell: (one) => plainText(one.id), paint: () => display.style.bold },
  ]
  const columns: FittedColumn<RetryingView>[] = [
    { title: 'state', cell: (one) => stepLabel(one.state, display), paint: (one) => stepPaint(one.state, display) },
    { title: 'attempt', align: 'right', cell: (one) => `${one.attempt}/${one.attemptsAllowed}` },
    { title: 'next in', align: 'right', cell: (one) => nextIn(one, nowMs) },
    { title: 'waited', align: 'right', cell: (one) => waitedText(one.waitedMs, one.retryBudgetMs), expendable: 2 },
    { title: 'last error', cell: (one) => failureText(one.failure), least: 12, expendable: 1 },
  ]
  return fitTableWithIds(ids, columns, waiting, display)
}

function nextIn({ nextAttemptAtMs, state }: RetryingView, nowMs: number): string {
  return nextAttemptAtMs === null || state === 'parked' ? 'queued' : countdown(nextAttemptAtMs, nowMs)
}
