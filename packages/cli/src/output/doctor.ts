/** `reprise doctor` and `doctor --salvage`, as pages. Imports words and types. */
import { countText, type DoctorCheck, plural } from '@reprise/workflow/internal'
import { type LostRows, plainText } from 'reprise/internal'
import type { Display } from './display.js'
import { wrapText } from './wrap.js'

/** A check with its cure as what to type. */
export type ReportedCheck = Omit<DoctorCheck, 'cure'> & { readonly cure: string | null }

const TITLES = { installation: 'Installation', store: 'Store', state: 'Records' } as const
const MARKS = { ok: 'ok', note: 'note', fault: 'FAULT' } as const
const INDENT = '         '

export function doctorPage(checks: readonly ReportedCheck[], display: Display): string[] {
  const areas = (Object.keys(TITLES) as (keyof typeof TITLES)[]).filter((area) =>
    checks.some((check) => check.area === area),
  )
  const faults = checks.filter(({ state }) => state === 'fault').length
  const isWell = !checks.some(({ area, state }) => area !== 'installation' && state !== 'ok')
  const good = isWell ? 'Everything is well.' : 'No faults, but see the notes.'
  const end = faults === 0 ? good : `${plural(faults, 'fault')}. Nothing was changed.`
  const sections = areas.flatMap((area) => [
    display.style.bold(TITLES[area]),
    ...checks.filter((check) => check.area === area).flatMap((check) => checkLines(check, display)),
    '',
  ])
  return [...sections, faults === 0 ? display.style.green(end) : display.style.red(end)]
}

function checkLines({ state, rule, place, message, cure }: ReportedCheck, { style, width }: Display): string[] {
  const paint = { ok: style.green, note: style.yellow, fault: style.red }[state]
  const where = place === null ? '' : `${place}: `
  const text = plainText(`${where}${message}${rule === null ? '' : ` (${rule})`}`, 2000)
  const [first = '', ...rest] = wrapText(INDENT, text, width)
  return [
    `  ${paint(MARKS[state].padEnd(5))}  ${first.slice(INDENT.length)}`,
    ...rest,
    // A command is never broken: it is to be copied.
    ...(cure === null ? [] : [`${INDENT}${style.cyan('cure')}: ${plainText(cure, 2000)}`]),
  ]
}

export interface SalvageView {
  readonly address: string
  readonly file: string
  readonly rows: Readonly<Record<string, number>>
  readonly lost: readonly LostRows[]
}

/** More of them are in `--json`, and with `--verbose`. */
const MOST_LOST = 20

export function salvagePage({ address, file, rows, lost }: SalvageView, display: Display): string[] {
  const copied = Object.entries(rows).map(([table, count]) => `${table} ${countText(count)}`)
  const what = copied.length === 0 ? 'it has no rows' : copied.join(', ')
  const shown = display.verbose ? lost : lost.slice(0, MOST_LOST)
  const more = lost.length - shown.length
  return [
    `${plainText(address)} was copied into ${plainText(file)}: ${what}.`,
    ...(lost.length === 0 ? ['Nothing was lost.'] : [`${display.style.red('Lost')}:`]),
    ...shown.map(({ place, reason }) => `  ${plainText(place)}: ${plainText(reason)}`),
    ...(more === 0 ? [] : [`  and ${more} more: --verbose lists all of them`]),
  ]
}
