/**
 * Shows a job until it has completed, or until the caller stops it: a matrix on a terminal, lines in pipes, events with
 * `--ndjson`. Imports the jobs package and output.
 */
import type { JobResult, JobStatus } from '@reprise/jobs'
import { type Caller, type JobOperations, MAX_WAIT_SECONDS } from '@reprise/jobs/internal'
import type { CommandContext } from '../../command-context.js'
import { JobLines } from '../../output/jobs/job-lines.js'
import { jobMatrix } from '../../output/jobs/job-matrix.js'
import { writeJsonLine } from '../../output/json.js'
import { Screen } from '../../output/live/screen.js'
import { displayFor } from '../../output/display.js'
import { isTerminal } from '../../output/style.js'
import type { JobAccess } from './with-operations.js'

/** Says when to stop watching, and waits between two reads. */
export interface WatchControl {
  /** Aborts when the looking is over. */
  readonly signal: AbortSignal
  wait(ms: number): Promise<void>
}

/** The result; undefined if it was stopped before. */
export async function followJob(
  { waiting: jobs, caller: { by }, lookEveryMs }: Pick<JobAccess, 'waiting' | 'caller' | 'lookEveryMs'>,
  id: string,
  control: WatchControl,
  context: CommandContext,
): Promise<JobResult | undefined> {
  const { signal } = control
  const caller = { by, signal }
  const view = viewFor(jobs, caller, id, context)
  try {
    while (!signal.aborted) {
      const result = view === undefined ? await waited(jobs, caller, id) : await shown(jobs, caller, id, view)
      if (result !== null) return result
      if (view !== undefined) await control.wait(lookEveryMs)
    }
    return undefined
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  } finally {
    view?.end()
  }
}

function waited(jobs: JobOperations, caller: Caller, id: string): Promise<JobResult | null> {
  return jobs.jobResult({ id, wait_seconds: MAX_WAIT_SECONDS }, caller)
}

async function shown(jobs: JobOperations, caller: Caller, id: string, view: JobShowing): Promise<JobResult | null> {
  const status = await jobs.showJob({ id }, caller)
  await view.show(status)
  return status.state === 'completed' ? jobs.jobResult({ id }, caller) : null
}

interface JobShowing {
  show(status: JobStatus): Promise<void> | void
  end(): void
}

/** Undefined: there is nothing to show before the end. */
function viewFor(jobs: JobOperations, caller: Caller, id: string, context: CommandContext): JobShowing | undefined {
  const { settings } = context
  if (settings.ndjson) return eventView(jobs, caller, id, context)
  return settings.quiet || settings.json ? undefined : statusView(context)
}

function statusView({ io, settings }: CommandContext): JobShowing {
  const { stderr, env } = io
  const display = displayFor(io, settings, stderr)
  if (!isTerminal(stderr, env) || settings.verbose) {
    const lines = new JobLines(display)
    const show = (status: JobStatus): void => {
      for (const line of lines.changesTo(status)) stderr.write(`${line}\n`)
    }
    return { show, end: () => undefined }
  }
  const screen = new Screen(stderr)
  let last: readonly string[] = []
  return {
    show: (status) => {
      // The last column stays free, for terminals that break a line which fills it; the last line is the cursor's.
      const window = { columns: (stderr.columns || 80) - 1, rows: (stderr.rows || 24) - 1 }
      last = jobMatrix(status, Date.now(), window, display)
      screen.draw(last)
    },
    end: () => screen.leave(last),
  }
}

/** Events of the store that are looked at in one request. */
const EVENT_PAGE = 200

function eventView(jobs: JobOperations, caller: Caller, id: string, { io }: CommandContext): JobShowing {
  let after = 0
  return {
    show: async () => {
      for (;;) {
        const { events, lastSeq } = await jobs.jobEvents({ id, after, limit: EVENT_PAGE }, caller)
        for (const event of events) writeJsonLine(io.stdout, event)
        if (events.length === 0 || lastSeq <= after) return
        after = lastSeq
      }
    },
    end: () => undefined,
  }
}
