/**
 * A task whose attempts are charged when their process is lost, the same in both processes of the test. The first
 * execution waits until a file says that it may end. Imports sources.
 */
import { appendFileSync, existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Durable } from '../../packages/reprise/src/durable/durable.js'
import type { TaskHandle } from '../../packages/reprise/src/durable/tasks.js'
import type { Start } from './task-history.js'

/** The file that every start is appended to, as a line of JSON. */
export const STARTS = 'starts'

export interface LostInput {
  readonly directory: string
  readonly holds: boolean
}

export function defineLost(durable: Durable, initialDelay: string): TaskHandle<LostInput, number> {
  return durable.task(
    'slow',
    { attempts: 4, initialDelay, jitter: false },
    async ({ directory, holds }: LostInput, { taskId, attempt, execution }) => {
      const start: Start = { task: taskId, attempt, execution, atMs: Date.now() }
      appendFileSync(path.join(directory, STARTS), `${JSON.stringify(start)}\n`)
      writeFileSync(path.join(directory, `started-${attempt}`), '')
      const isHeld = (): boolean => holds && attempt === 1 && !existsSync(path.join(directory, 'go'))
      while (isHeld()) await new Promise((resolve) => setTimeout(resolve, 10))
      return process.pid
    },
    { onInterrupt: 'charge', allot: { budget: 'lost', total: 5 } },
  )
}
