/** What a task's progress says for a while only, and loses again. Imports the ledger's types. */
import type { TaskProgress } from '../ledger/records.js'

/** What is said of the wait before an attempt. Most have nothing of it, and copying without fields takes long. */
export function withoutWait(progress: TaskProgress): TaskProgress {
  if (progress.startEarly === undefined && progress.waitChosenBy === undefined && progress.lost === undefined)
    return progress
  const { startEarly: _startEarly, waitChosenBy: _waitChosenBy, lost: _lost, ...rest } = progress
  return rest
}

/** What is said of a task that has not ended. Most have nothing of it, and copying without fields takes long. */
export function withoutMarks(progress: TaskProgress): TaskProgress {
  const { unverified, lost, checkpoint, unpaid } = progress
  if (unverified === undefined && lost === undefined && checkpoint === undefined && unpaid === undefined)
    return progress
  const { unverified: _unverified, lost: _lost, checkpoint: _checkpoint, unpaid: _unpaid, ...rest } = progress
  return rest
}
