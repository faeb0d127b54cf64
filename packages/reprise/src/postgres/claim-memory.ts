/** What a claim tells of the next one of the same queue. Imports its own layer and the port. */
import type { DueRequest } from '../ledger/ledger.js'
import { nameOf } from '../ledger/records.js'
import { text } from '../ledger/rows.js'
import type { Batch } from './batch.js'
import { onlyFresh, onlyPlain } from './claim-search.js'
import { DueFloors } from './due-floor.js'
import type { CachedRow } from './row-cache.js'
import { isUsual, usualStart, UsualStarts } from './usual-start.js'

export class ClaimMemory {
  readonly floors = new DueFloors()
  readonly usual = new UsualStarts()

  /** It has looked for tasks from this due time on, has found these, and has decided what is in the batch. */
  note(request: DueRequest, due: readonly CachedRow[], batch: Batch, from: number): void {
    const plain = onlyPlain(request)
    if (plain === undefined) return
    const isAll = due.length >= request.limit && due.every(({ task }) => batch.isWritten(nameOf(task)))
    if (isAll) this.floors.claimed(plain, due, from)
    else this.floors.forget(plain)
    const fresh = onlyFresh(request)
    const [first] = due
    const owner = first && batch.row(first.task)?.task.owner
    if (fresh === undefined || typeof owner !== 'string' || this.usual.ownerOf(fresh) === owner) return
    const usual = isUsual(due, (index) => text(due[index]?.task.progress), usualStart(owner, batch.now))
    if (batch.isOnly(due, usual)) this.usual.learn(fresh, owner)
  }
}
