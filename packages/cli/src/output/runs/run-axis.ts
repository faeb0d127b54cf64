/**
 * The time of a run on a line of cells: what lies between a stop and its resume is cut out, so that a run which was
 * resumed the next day can be seen. A cell marks each resume. Imports types only.
 */
import type { RunDetail } from '@reprise/workflow/internal'

export interface RunAxis {
  readonly cells: number
  /** The cells that mark a resume. */
  readonly dividers: readonly number[]
  /** A place from 0 to `cells`; a time that was cut out is where the cut is. */
  at(timeMs: number): number
}

interface Session {
  readonly fromMs: number
  readonly toMs: number
  /** Its first cell. */
  readonly cell: number
  readonly cells: number
}

/** More resumes than this share of the cells are not marked: there would be nothing else. */
const MAX_DIVIDERS = 1 / 4

export function runAxis(run: Pick<RunDetail, 'sessions'>, cells: number): RunAxis {
  const { sessions: conducted } = run
  const gap = conducted.length - 1 > cells * MAX_DIVIDERS ? 0 : 1
  const space = cells - gap * (conducted.length - 1)
  const lengths = conducted.map(({ startedAtMs, lastSeenAtMs }) => Math.max(1, lastSeenAtMs - startedAtMs))
  const allMs = lengths.reduce((sum, ms) => sum + ms, 0)
  let cell = 0
  const sessions = conducted.map(({ startedAtMs: fromMs, lastSeenAtMs: toMs }, index): Session => {
    const own = { fromMs, toMs, cell, cells: ((lengths[index] ?? 0) / allMs) * space }
    cell += own.cells + gap
    return own
  })
  const dividers = gap === 0 ? [] : sessions.slice(1).map((session) => Math.floor(session.cell - gap))
  return { cells, dividers, at: (timeMs) => place(sessions, timeMs) }
}

function place(sessions: readonly Session[], timeMs: number): number {
  const session = sessions.findLast(({ fromMs }) => fromMs <= timeMs) ?? sessions[0]
  if (session === undefined) return 0
  const { fromMs, toMs, cell, cells } = session
  const share = toMs <= fromMs ? 0 : Math.min(1, Math.max(0, (timeMs - fromMs) / (toMs - fromMs)))
  return cell + share * cells
}
