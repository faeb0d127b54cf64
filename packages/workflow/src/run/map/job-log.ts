/**
 * `--joblog FILE`: one line for each attempt of an item that ended in this process, tab-separated, in the order in which
 * they end. Imports Node and the library's events.
 */
import { appendFileSync, existsSync, statSync } from 'node:fs'
import type { Observer, RepriseEvent } from 'reprise'
import { failureOf } from 'reprise/internal'
import { stateErrorOf } from '../../state/state-error.js'

const COLUMNS = ['item', 'attempt', 'started', 'seconds', 'outcome', 'exit', 'error'] as const

export class JobLog implements Observer {
  private readonly file: string
  private readonly mapRun: string
  private readonly onFailure: (error: Error) => void

  /**
   * The file is made now, so that one that cannot be written is refused before anything runs. One that is there grows: the
   * run may be a resume, and have several maps.
   */
  constructor(file: string, mapRun: string, onFailure: (error: Error) => void) {
    this.file = file
    this.mapRun = mapRun
    this.onFailure = onFailure
    this.attempt(() => {
      const isNew = !existsSync(file) || statSync(file).size === 0
      appendFileSync(file, isNew ? `${COLUMNS.join('\t')}\n` : '')
    })
  }

  onEvent(event: RepriseEvent): void {
    if (event.type !== 'attempt_finished' || event.scopeKind !== 'run' || event.scope !== this.mapRun) return
    const { taskId = '', attempt, timeMs, durationMs, outcome, error } = event
    const failure = error === undefined ? undefined : failureOf(error)
    const started = new Date(timeMs - durationMs).toISOString()
    const exit = outcome === 'success' ? '0' : String(failure?.exitCode ?? '')
    const fields = [taskId, attempt, started, (durationMs / 1000).toFixed(3), outcome, exit, failure?.message ?? '']
    const line = fields.map((field) => String(field).replaceAll(/[\t\n\r]+/g, ' ')).join('\t')
    try {
      this.attempt(() => appendFileSync(this.file, `${line}\n`))
    } catch (problem) {
      this.onFailure(problem as Error)
    }
  }

  private attempt(act: () => void): void {
    try {
      act()
    } catch (error) {
      throw stateErrorOf(this.file, error)
    }
  }
}

/** The observer, and the log beside it. */
export function withJobLog(
  observer: Observer,
  file: string,
  mapRun: string,
  onFailure: (error: Error) => void,
): Observer {
  const log = new JobLog(file, mapRun, onFailure)
  return {
    onEvent: (event) => {
      observer.onEvent(event)
      log.onEvent(event)
    },
  }
}
