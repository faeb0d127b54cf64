/**
 * The tasks of the group and what their ends mean, the same in every process: a tally in a run, and one more task once
 * all of them have ended. Imports sources.
 */
import type { Durable } from '../../packages/reprise/src/durable/durable.js'
import type { TaskGroup } from '../../packages/reprise/src/durable/group.js'
import type { TaskHandle } from '../../packages/reprise/src/durable/tasks.js'
import type { NewTask } from '../../packages/reprise/src/ledger/ledger.js'
import { keyIn } from '../../packages/reprise/src/ledger/records.js'
import { recounted, type Tally } from '../durable/tally-group.js'

export const RUN = 'group-1'
export const MEMBERS = { scopeKind: 'task', scope: 'member' } as const
export const LAST = keyIn({ scopeKind: 'task', scope: 'last' }, 'last')

/** `fails`: so many attempts fail; the policy allows 3. */
export interface Member {
  readonly fails: number
}

/** `template`: the task that follows the last one, as it is to be created. */
function group(template: NewTask | undefined): TaskGroup {
  return {
    keys: () => ({ runs: [RUN], tasks: [LAST] }),
    follow: (view, { from, to }, now) => {
      const run = recounted(view.run(RUN), from, to, now)
      const { fresh, retrying } = run.detail as unknown as Tally
      const isLast = fresh + retrying === 0 && view.task(LAST) === undefined && template !== undefined
      const created = isLast ? [{ ...template, task: { ...template.task, dueAtMs: now } }] : []
      return { runs: [{ run }], created }
    },
  }
}

export function defineMembers(durable: Durable, template: NewTask | undefined): TaskHandle<Member, number> {
  durable.task('last', { attempts: 3, initialDelay: '1ms' }, async (_input: null) => process.pid)
  return durable.task(
    'member',
    { attempts: 3, initialDelay: '5ms', backoff: 'fixed' },
    async ({ fails }: Member, { attempt }) => {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 10))
      if (attempt <= fails) throw new Error('no')
      return process.pid
    },
    { group: group(template) },
  )
}
