/** What a resume is about to do: what is kept, run again and waited for. Imports words and types. */
import type { ResumePreview } from '@reprise/workflow'
import { plainText } from 'reprise/observe'
import { roundedDuration } from '../duration.js'
import { plural } from '../failure-words.js'
import type { Look } from '../look.js'
import { countdown } from '../relative-time.js'
import { wrapText } from '../wrap.js'

/** Of each kind, so many are named. */
const MAX_NAMED = 12

export function resumePreview(preview: ResumePreview, nowMs: number, look: Look): string[] {
  const { style } = look
  const { run, kept, rerun, waiting, pending, budgetLeft, warnings } = preview
  const limited = budgetLeft.flatMap(({ step, leftMs }) =>
    leftMs === null ? [] : [`${name(step)} ${roundedDuration(leftMs)}`],
  )
  const rows: readonly (readonly [lead: string, text: string])[] = [
    ['kept', kept.length === 0 ? '' : `${plural(kept.length, 'step')}: ${named(kept.map(name), look)}`],
    [
      'run again',
      named(
        rerun.map(({ step, attempt, of }) => `${name(step)} (attempt ${attempt}/${of}, interrupted)`),
        look,
      ),
    ],
    [
      'waiting',
      named(
        waiting.map((one) => waitingText(one, nowMs)),
        look,
      ),
    ],
    ['pending', pending === 0 ? '' : plural(pending, 'step')],
    ['left to wait', named(limited, look)],
  ]
  const shown = rows.filter(([, text]) => text !== '')
  const widest = shown.reduce((most, [lead]) => Math.max(most, lead.length), 0)
  return [
    `Resuming run ${style.bold(plainText(run))}`,
    ...shown.flatMap(([lead, text]) => wrapText(`  ${style.dim(lead.padEnd(widest))}  `, text, look.width)),
    ...(shown.length === 0 ? ['  nothing is left to do'] : []),
    ...warnings.flatMap((warning) => wrapText(`  ${style.yellow('warning:')} `, plainText(warning, 1000), look.width)),
  ]
}

function waitingText({ step, attempt, of, nextAttemptAtMs }: ResumePreview['waiting'][number], nowMs: number): string {
  const left = countdown(nextAttemptAtMs, nowMs)
  return `${name(step)} (attempt ${attempt}/${of}, ${left === 'now' ? 'due now' : `next in ${left}`})`
}

function name(step: string): string {
  return plainText(step, 60)
}

function named(texts: readonly string[], { verbose }: Look): string {
  const left = texts.length - MAX_NAMED
  if (verbose || left <= 0) return texts.join(', ')
  return `${texts.slice(0, MAX_NAMED).join(', ')}, … and ${left} more`
}
