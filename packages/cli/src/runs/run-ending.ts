/** What is said when a run has ended here: the summary for people, the run as data for programs. */
import type { Plan, RunEnd } from '@reprise/workflow'
import { type RunDetail, type RunExcerpt, runReader, viewRun, viewSummary } from '@reprise/workflow/internal'
import type { Ledger } from 'reprise/durable'
import type { CommandContext } from '../command-context.js'
import { writeJson } from '../output/json.js'
import { displayFor } from '../output/display.js'
import { commandWords } from '../output/next-commands.js'
import { MAX_LISTED, runSummary } from '../output/run-summary.js'

/** Read while the run's ledger is still open; told when everything is closed, and nothing can go wrong any more. */
export class RunEnding {
  private readonly context: CommandContext
  private readonly runId: string
  private readonly plan: Plan
  private detail: RunDetail | RunExcerpt | undefined = undefined

  constructor(context: CommandContext, runId: string, plan: Plan) {
    this.context = context
    this.runId = runId
    this.plan = plan
  }

  async look(ledger: Ledger, { state }: RunEnd): Promise<void> {
    const { json, ndjson, quiet, verbose, store } = this.context.settings
    if (ndjson || (quiet && !json && state === 'succeeded')) return
    const reader = runReader(ledger, store, this.plan)
    // The data has every step; the lines tell of a few.
    this.detail = json
      ? await viewRun(reader, this.runId)
      : await viewSummary(reader, this.runId, { most: verbose ? Infinity : MAX_LISTED })
    if (this.detail === undefined) throw new Error(`run ${this.runId} is not there any more`)
  }

  tell({ undecided, left }: RunEnd): void {
    if (this.detail === undefined) return
    const { io, settings } = this.context
    if (settings.json)
      return writeJson(io.stdout, { ...this.detail, undecided, ...(left !== undefined && left > 0 && { left }) })
    const display = displayFor(io, settings, io.stderr)
    const lines = runSummary(this.detail, display, commandWords(settings, io.env), left)
    io.stderr.write(`${lines.join('\n')}\n`)
  }
}
