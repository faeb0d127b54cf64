/**
 * The last line of every attempt that another process runs, from the log that it writes. A log on another machine cannot
 * be read, and nothing is told of it. Imports types of the library and the shapes.
 */
import type { TaskRecord } from 'reprise/durable'
import type { AttemptMark, LogFinder } from './step-views.js'
import type { StepView } from './views.js'

export interface OutputLine {
  readonly step: string
  readonly attempt: number
  readonly attempts: number
  readonly line: string
}

interface RunningAttempt extends AttemptMark {
  readonly step: string
  readonly attempts: number
}

export class RunningOutput {
  private running: readonly RunningAttempt[] = []
  /** What was told last, by step. */
  private readonly told = new Map<string, string>()

  /** Which attempts run now. */
  note(steps: readonly StepView[], tasks: ReadonlyMap<string, TaskRecord>): void {
    this.running = steps.flatMap(({ id, attemptsAllowed }) => {
      const task = tasks.get(id)
      const current = task?.progress.current
      if (task?.status !== 'running' || !current) return []
      const { attempt, execution } = current
      return [{ step: id, attempts: attemptsAllowed, generation: task.generation, attempt, execution }]
    })
  }

  /** Lines that were not told yet. */
  lines(logOf: LogFinder, lastLineIn: (log: string) => string): OutputLine[] {
    return this.running.flatMap((running) => {
      const { step, attempts, generation, attempt, execution } = running
      const log = logOf(step, running)
      const line = log === null ? '' : lastLineIn(log)
      const key = [generation, attempt, execution, line].join(' ')
      if (line === '' || this.told.get(step) === key) return []
      this.told.set(step, key)
      return [{ step, attempt, attempts, line }]
    })
  }
}
