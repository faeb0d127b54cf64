/** What jobs run, read once for each job and kept for a while: documents may be long. Imports the records. */
import type { Ledger } from 'reprise/durable'
import { definitionOf, type JobDefinition } from '../record/job-record.js'

const MOST_KEPT = 50

export class JobDefinitions {
  private readonly ledger: Ledger
  private readonly kept = new Map<string, Promise<JobDefinition>>()

  constructor(ledger: Ledger) {
    this.ledger = ledger
  }

  get(job: string): Promise<JobDefinition> {
    const known = this.kept.get(job) ?? this.read(job)
    // The last one that was asked for is the last to be dropped.
    this.kept.delete(job)
    this.kept.set(job, known)
    const [oldest] = this.kept.keys()
    if (this.kept.size > MOST_KEPT && oldest !== undefined) this.kept.delete(oldest)
    return known
  }

  private async read(job: string): Promise<JobDefinition> {
    try {
      return definitionOf(await this.ledger.definition(job), job)
    } catch (error) {
      this.kept.delete(job)
      throw error
    }
  }
}
