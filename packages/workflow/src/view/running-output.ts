/**
 * The last line of every attempt that another process runs, from the log that it writes. A log on another machine is not
 * there, and nothing is told of it. Imports Node, the library's types and the shapes.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { TaskRecord } from 'reprise/durable'
import { LAST_BYTES, lastLine } from '../process/last-words.js'
import type { AttemptMark, LogFinder } from './step-look.js'
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
      const { number, execution } = current
      return [{ step: id, attempts: attemptsAllowed, generation: task.generation, number, execution }]
    })
  }

  /** Lines that were not told yet. */
  lines(logOf: LogFinder): OutputLine[] {
    return this.running.flatMap((attempt) => {
      const { step, attempts, generation, number, execution } = attempt
      const log = logOf(step, attempt)
      const line = log === null ? '' : lastLineIn(log)
      const key = [generation, number, execution, line].join(' ')
      if (line === '' || this.told.get(step) === key) return []
      this.told.set(step, key)
      return [{ step, attempt: number, attempts, line }]
    })
  }
}

/** Empty for a file that is gone: whoever removes a run removes its logs. */
function lastLineIn(file: string): string {
  let handle: number
  try {
    handle = openSync(file, 'r')
  } catch {
    return ''
  }
  try {
    const { size } = fstatSync(handle)
    const bytes = Buffer.alloc(Math.min(size, LAST_BYTES))
    return lastLine(bytes.subarray(0, readSync(handle, bytes, 0, bytes.length, size - bytes.length)))
  } finally {
    closeSync(handle)
  }
}
