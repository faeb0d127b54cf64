/**
 * The JUnit report of a run that this process conducts. It is written before the run as one that has not ended, so that a
 * place where it cannot be written is told before anything runs, and a process that is killed leaves no report of before.
 * Imports the workflow package and output.
 */
import type { Plan } from '@reprise/workflow'
import { type RunDetail, runReader, viewRun } from '@reprise/workflow/internal'
import type { Ledger } from 'reprise/durable'
import { describeError } from 'reprise/internal'
import type { CommandContext } from '../command-context.js'
import { UsageError } from '../failures.js'
import { junitOf, junitOfError } from '../output/junit.js'
import { writeReport } from '../output/write-file.js'

export class JunitReport {
  private readonly file: string
  private readonly context: CommandContext
  private readonly runId: string
  private readonly plan: Plan
  private detail: RunDetail | undefined = undefined

  constructor(file: string, context: CommandContext, runId: string, plan: Plan) {
    if (file === '' || file === '-') throw new UsageError('--junit needs the name of a file', 'such as junit.xml')
    this.file = file
    this.context = context
    this.runId = runId
    this.plan = plan
  }

  begin(): void {
    this.writeError('the run has not ended: the process that ran it was killed, or is still running')
  }

  /** While the ledger is still open. */
  async look(ledger: Ledger): Promise<void> {
    this.detail = await viewRun(runReader(ledger, this.context.settings.store, this.plan), this.runId)
  }

  write(): void {
    if (this.detail !== undefined) writeReport(this.file, junitOf(this.detail))
  }

  /** What ended the run is told anyway; that it cannot be written here as well is not worth more. */
  fail(error: unknown): void {
    try {
      this.writeError(describeError(error))
    } catch {
      // The report of the beginning says that the run has not ended.
    }
  }

  private writeError(message: string): void {
    writeReport(this.file, junitOfError(this.plan.name, this.runId, message))
  }
}
