/**
 * A ledger that sees every commit of its process: it tells of promises that one breaks, and remembers what the process
 * began, with generation and fence, which an operation is not told. Imports the ledger's types and the check of a commit.
 */
import type { Creation, Decided, Ledger, View } from '../../packages/reprise/src/ledger/ledger.js'
import type { TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { faultsOfCommit } from '../durable/watched-ledger.js'

/**
 * A start of a task, as a key. Of each execution: a process whose claim was answered late may begin an execution after it
 * has claimed the next one.
 */
export function beginningOf(
  { scope, id }: { readonly scope: string; readonly id: string },
  { attempt, execution }: { readonly attempt: number; readonly execution: number },
): string {
  return `${scope}/${id} ${attempt}.${execution}`
}

export function checkingCommits(ledger: Ledger, begun: Map<string, TaskRecord>, tell: (fault: string) => void): Ledger {
  const remember = (task: TaskRecord): void => {
    const { current } = task.progress
    if (task.status === 'running' && current !== null) begun.set(beginningOf(task, current), task)
  }
  const see = <T>(view: View, decided: Decided<T>): Decided<T> => {
    for (const fault of faultsOfCommit(view, decided)) tell(fault)
    for (const task of decided.tasks ?? []) remember(task)
    return decided
  }
  const verbs: Pick<Ledger, 'create' | 'transact' | 'claim'> = {
    create: async (tasks) => {
      const creations: readonly Creation[] = await ledger.create(tasks)
      for (const { type, task } of creations) if (type === 'created') remember(task)
      return creations
    },
    transact: (keys, decide) => ledger.transact(keys, (view) => see(view, decide(view))),
    claim: (request, decide) => ledger.claim(request, (task, view, seat) => see(view, decide(task, view, seat))),
  }
  return replaced(ledger, verbs)
}

/** A ledger in which nobody finds a budget or breaker again. */
export function withoutGates(ledger: Ledger): Ledger {
  const blind = (view: View): View => ({
    now: view.now,
    task: (key) => view.task(key),
    gate: () => undefined,
    run: (id) => view.run(id),
  })
  const verbs: Pick<Ledger, 'gates' | 'transact' | 'claim'> = {
    gates: async () => [],
    transact: (keys, decide) => ledger.transact(keys, (view) => decide(blind(view))),
    claim: (request, decide) => ledger.claim(request, (task, view, seat) => decide(task, blind(view), seat)),
  }
  return replaced(ledger, verbs)
}

function replaced(ledger: Ledger, verbs: Partial<Ledger>): Ledger {
  return new Proxy(ledger, {
    get: (target, verb: keyof Ledger) => {
      const value: unknown = verbs[verb] ?? target[verb]
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}
