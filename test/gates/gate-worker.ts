/**
 * A process that shares gates with others: `gate-worker.ts ADDRESS DIRECTORY COUNT` opens the ledger so many times and does what
 * it is told by messages. Every operation leaves a mark in the directory while it runs, so that what runs at once in all
 * processes is seen without a clock. Imports the durable driver's source and the plan.
 */
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Durable } from '../../packages/reprise/src/durable/durable.js'
import type { TaskHandle } from '../../packages/reprise/src/durable/tasks.js'
import { openDurable } from '../../packages/reprise/src/open/open-durable.js'
import { type Doing, type KindName, KINDS, OPTIONS, type Order, type Said, sharedBudgets } from './plan.js'

const [address = '', directory = '', count = '1'] = process.argv.slice(2)
const say = (said: Said): void => void process.send?.(said)
const peaks: Record<string, number> = {}
let release: () => void
const released = new Promise<void>((resolve) => (release = resolve))

async function operate(kind: KindName, taskId: string, doing: Doing): Promise<string> {
  const what = `${kind} ${doing}`
  const mark = path.join(directory, `${what} ${process.pid} ${taskId}`)
  writeFileSync(mark, '')
  const marks = readdirSync(directory).filter((name) => name.startsWith(what))
  peaks[what] = Math.max(peaks[what] ?? 0, marks.length)
  try {
    await (doing === 'hold' ? released : new Promise((resolve) => setTimeout(resolve, Math.random() * 3)))
    if (doing === 'fail') throw new Error('no')
    return 'done'
  } finally {
    // Before its end can be recorded: others may begin only then.
    rmSync(mark)
  }
}

type Handles = Readonly<Record<KindName, TaskHandle<Doing, string>>>

async function open(): Promise<[Durable, Handles]> {
  const durable = await openDurable(address, { budgets: sharedBudgets(), lease: '6s', synchronous: 'normal' })
  const handles = Object.entries(KINDS).map(([kind, policy]) => {
    const run = (doing: Doing, { taskId }: { taskId: string }): Promise<string> =>
      operate(kind as KindName, taskId, doing)
    return [kind, durable.task<Doing, string>(kind, policy, run, OPTIONS[kind as KindName])]
  })
  return [durable, Object.fromEntries(handles) as Handles]
}

const opened: [Durable, Handles][] = []
for (let index = 0; index < Number(count); index++) opened.push(await open())

async function submit({ kind, ids, doing }: Extract<Order, { type: 'submit' }>): Promise<void> {
  await Promise.all(ids.map((id, index) => opened[index % opened.length]?.[1][kind].start(doing, { id })))
  say({ type: 'submitted', peaks })
}

async function close(): Promise<void> {
  await Promise.all(opened.map(([durable]) => durable.close()))
  say({ type: 'closed', peaks })
  process.disconnect()
}

process.on('message', (order: Order) => {
  if (order.type === 'submit') void submit(order)
  else if (order.type === 'release') release()
  else void close()
})
say({ type: 'ready' })
