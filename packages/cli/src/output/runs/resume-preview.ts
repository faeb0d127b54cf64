/** What a resume is about to do: what is kept, run again and waited for. Imports words and types. */
import { type MapPreview, plural, type ResumePreview, roundedDuration } from '@reprise/workflow/internal'
import { plainText } from 'reprise/internal'
import type { Display } from '../display.js'
import { countdown } from '../relative-time.js'
import { wrapText } from '../wrap.js'

/** Of each kind, so many are named. */
const MAX_NAMED = 12

export function resumePreview(preview: ResumePreview, nowMs: number, display: Display): string[] {
  const { style } = display
  const { run, kept, rerun, waiting, denied, reset, repeated, pending, maps, budgetLeft, warnings } = preview
  const limited = budgetLeft.map(({ step, expiresAtMs }) => `${name(step)} ${leftText(expiresAtMs - nowMs)}`)
  const rows: readonly (readonly [lead: string, text: string])[] = [
    ['kept', kept === 0 ? '' : `${plural(kept, 'step')} that succeeded`],
    ['fresh attempts', named(reset.map(name), display)],
    ['once more', named(repeated.map(name), display)],
    [
      'run again',
      named(
        rerun.map(({ step, attempt, of }) => `${name(step)} (attempt ${attempt}/${of}, interrupted)`),
        display,
      ),
    ],
    [
      'waiting',
      named(
        waiting.map((one) => waitingText(one, nowMs)),
        display,
      ),
    ],
    [
      'not retried',
      named(
        denied.map(({ step, reason }) => `${name(step)}, ${reason.replaceAll('_', ' ')}`),
        display,
      ),
    ],
    ['pending', pending === 0 ? '' : plural(pending, 'step')],
    ...maps.map((map) => [`items of ${name(map.map)}`, mapText(map)] as const),
    ['retry budget', named(limited, display)],
  ]
  const shown = rows.filter(([, text]) => text !== '')
  const widest = shown.reduce((most, [lead]) => Math.max(most, lead.length), 0)
  return [
    `Resuming run ${style.bold(plainText(run))}`,
    ...shown.flatMap(([lead, text]) => wrapText(`  ${style.dim(lead.padEnd(widest))}  `, text, display.width)),
    ...(shown.length === 0 ? ['  nothing is left to do'] : []),
    ...warnings.flatMap((warning) =>
      wrapText(`  ${style.yellow('warning:')} `, plainText(warning, 1000), display.width),
    ),
  ]
}

const ON_INTERRUPT: Readonly<Record<MapPreview['onInterrupt'], string>> = {
  rerun: 'run again',
  fail: 'left undecided',
  verify: 'verified first',
}

/** `30 items: 8 kept, 20 pending, 2 interrupted, run again`. */
function mapText(map: MapPreview): string {
  if (!map.isRead) return 'they were not all recorded, and are read again'
  const { total, kept, pending, retrying, interrupted, onInterrupt, failed, undecided, cancelled, reset } = map
  const counts: readonly (readonly [count: number, word: string])[] = [
    [kept, 'kept'],
    [pending, 'pending'],
    [retrying, 'retrying'],
    [interrupted, `interrupted, ${ON_INTERRUPT[onInterrupt]}`],
    [reset, 'with fresh attempts'],
    [reset > 0 ? 0 : failed, 'failed'],
    [reset > 0 ? 0 : cancelled, 'cancelled'],
    [undecided, 'undecided'],
  ]
  const parts = counts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`)
  return parts.length === 0 ? plural(total, 'item') : `${plural(total, 'item')}: ${parts.join(', ')}`
}

/** After that no retry is begun any more. */
function leftText(leftMs: number): string {
  return leftMs <= 0 ? 'has expired' : `expires in ${roundedDuration(leftMs)}`
}

function waitingText({ step, attempt, of, nextAttemptAtMs }: ResumePreview['waiting'][number], nowMs: number): string {
  const left = countdown(nextAttemptAtMs ?? nowMs, nowMs)
  return `${name(step)} (attempt ${attempt}/${of}, ${left === 'now' ? 'due now' : `next in ${left}`})`
}

function name(step: string): string {
  return plainText(step, 60)
}

function named(texts: readonly string[], { verbose }: Display): string {
  const left = texts.length - MAX_NAMED
  if (verbose || left <= 0) return texts.join(', ')
  return `${texts.slice(0, MAX_NAMED).join(', ')}, … and ${left} more`
}
