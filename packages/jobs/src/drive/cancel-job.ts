/** Cancels a job: the completion and the order to stop its workflows are one transaction. Imports the records. */
import { type Ledger, TaskRefusedError } from 'reprise/durable'
import { jobOf } from '../record/job-record.js'
import { evaluateJob, evaluationKeys } from './evaluate-job.js'

/** `completed`: the job had completed before, and stays as it is. `by`: who asked for it. */
export async function cancelJob(ledger: Ledger, id: string, by?: string): Promise<'cancelled' | 'completed'> {
  return ledger.transact(evaluationKeys(id), (view) => {
    const run = view.run(id)
    if (run === undefined || run.status === 'removing') throw notFound(id)
    const job = jobOf(run)
    const { completion } = job.detail
    if (completion !== null) return { result: completion.reason === 'cancelled' ? 'cancelled' : 'completed' }
    return { ...evaluateJob(view, job, [], view.now, { by }), result: 'cancelled' }
  })
}

export function notFound(id: string): TaskRefusedError {
  return new TaskRefusedError('not_found', `There is no job ${id}`)
}
