/** What a worker has to say of results that it kept while it was cut off, for logs. Types and words. Imports nothing. */

/**
 * `delivered`: a result that an earlier process of this worker had kept counts now. `delivered_late`: it counts, though the
 * worker had been taken for lost. `refused`: a result came too late: another worker has the workflow, it is over, or the job
 * was removed. `abandoned`: an earlier process was killed before the workflow had ended.
 */
export type WorkerNoteKind = 'delivered' | 'delivered_late' | 'refused' | 'abandoned'

/** A result that a worker kept, and what became of it. */
export interface WorkerNote {
  /** What became of it. */
  readonly kind: WorkerNoteKind
  /** The job that the workflow belongs to. */
  readonly jobId: string
  /** The worker's own. */
  readonly datacenter: string
  /** The name of the workflow. */
  readonly workflow: string
  /** The attempt that the result is of: 1 for the first. */
  readonly attempt: number
  /** The same as a sentence. */
  readonly message: string
}

const WORDS: Readonly<Record<WorkerNoteKind, string>> = {
  delivered: 'was kept here by a process that is gone, and has been delivered',
  delivered_late: 'was kept here while the worker was taken for lost, and counts',
  refused: 'came too late and does not count: another worker has the workflow, it is over, or its job was removed',
  abandoned: 'had not ended when its process was lost, and is left to the next attempt',
}

/** `id`: the name of the workflow. */
export function workerNote(
  kind: WorkerNoteKind,
  { jobId, datacenter, id, attempt }: Pick<WorkerNote, 'jobId' | 'datacenter' | 'attempt'> & { readonly id: string },
): WorkerNote {
  const message = `${jobId} ${datacenter}/${id}: attempt ${attempt} ${WORDS[kind]}`
  return { kind, jobId, datacenter, workflow: id, attempt, message }
}
