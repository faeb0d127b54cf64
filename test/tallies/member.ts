/** The tasks that are counted, the same in every process. Imports sources. */
import type { Durable } from '../../packages/reprise/src/durable/durable.js'
import type { TaskHandle } from '../../packages/reprise/src/durable/tasks.js'

/** Tasks are counted by halves. */
export const TALLIES = ['import/0', 'import/1'] as const

/** `fails`: so many attempts fail; the policy allows 3. */
export interface Member {
  readonly half: 0 | 1
  readonly fails: number
}

export function defineMembers(durable: Durable): TaskHandle<Member, number> {
  return durable.task(
    'member',
    { attempts: 3, initialDelay: '5ms', backoff: 'fixed' },
    async ({ fails }: Member, { attempt }) => {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 10))
      if (attempt <= fails) throw new Error('no')
      return process.pid
    },
    { tally: ({ input }) => TALLIES[(input as unknown as Member).half] },
  )
}
