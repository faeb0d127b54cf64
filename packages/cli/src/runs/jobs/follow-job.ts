/**
 * Shows a job until it has completed, or until the looking is stopped: a matrix on a terminal, lines in pipes, events with
 * `--ndjson`. Imports the jobs package and output.
 */
import type { JobResult, Jobs, JobStatus } from '@reprise/jobs'
import type { CommandContext } from '../../command-context.js'
import { JobLines } from '../../output/jobs/job-lines.js'
import { jobMatrix } from '../../output/jobs/job-matrix.js'
import { writeJsonLine } from '../../output/json.js'
import { Screen } from '../../output/live/screen.js'
import { lookFor } from '../../output/look.js'
import { isTerminal } from '../../output/style.js'

const LOOK_EVERY_MS = 250

/** Who says that the looking is over, and waits between two looks. */
export interface Looker {
  isStopped(): boolean
  wait(ms: number): Promise<void>
}

/** The result; undefined if the looking was stopped before. */
export async function followJob(
  jobs: Jobs,
  id: string,
  looker: Looker,
  context: CommandContext,
): Promise<JobResult | undefined> {
  const { settings } = context
  const view = settings.ndjson ? eventView(jobs, id, context) : statusView(context)
  try {
    while (!looker.isStopped()) {
      const status = await jobs.status(id)
      await view.show(status)
      if (status.state === 'completed') return await jobs.result(id)
      await looker.wait(LOOK_EVERY_MS)
    }
    return undefined
  } finally {
    view.end()
  }
}

interface JobShowing {
  show(status: JobStatus): Promise<void> | void
  end(): void
}

function statusView({ world, settings }: CommandContext): JobShowing {
  const { stderr, env } = world
  if (settings.quiet || settings.json) return { show: () => undefined, end: () => undefined }
  const look = lookFor(world, settings, stderr)
  if (!isTerminal(stderr, env) || settings.verbose) {
    const lines = new JobLines(look)
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
      last = jobMatrix(status, Date.now(), window, look)
      screen.draw(last)
    },
    end: () => screen.leave(last),
  }
}

function eventView(jobs: Jobs, id: string, { world }: CommandContext): JobShowing {
  let after = 0
  return {
    show: async () => {
      for (;;) {
        const { events, lastSeq } = await jobs.events(after, { job: id })
        for (const event of events) writeJsonLine(world.stdout, event)
        if (events.length === 0 || lastSeq <= after) return
        after = lastSeq
      }
    },
    end: () => undefined,
  }
}
