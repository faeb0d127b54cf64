/**
 * `compare-child.js floor|library URL`: a process that stays, and takes a batch whenever it is told one. So all builds that
 * are compared are warm. Imports both.
 */
import { Floor } from './floor.js'
import { Library } from './library.js'
import { prepareBatch, type Program, takeBatch, warmUp, WORKLOADS } from './turn.mjs'

/** What the parent asks: to warm up for batches of this many seconds, to prepare a batch of this many tasks, or to run it. */
export interface Question {
  readonly act: 'warm' | 'prepare' | 'take'
  readonly workload: string
  /** Seconds or tasks. */
  readonly size: number
}

const [who = '', url = ''] = process.argv.slice(2)
const ACTS = { warm: warmUp, prepare: prepareBatch, take: takeBatch }
const programs = new Map<string, Program>()

async function answer({ act, workload: id, size }: Question): Promise<unknown> {
  const workload = WORKLOADS[id]
  if (workload === undefined) throw new Error(`No workload ${id}`)
  const { width } = workload
  const kept = programs.get(String(width))
  const program = kept ?? (who === 'floor' ? await Floor.open(url) : await Library.open({ url, width }))
  programs.set(String(width), program)
  return ACTS[act](program, workload, size)
}

process.on('message', (question: Question) => {
  void answer(question).then(
    (said) => process.send?.({ said }),
    (error: unknown) => process.send?.({ failure: String((error as Error).stack ?? error) }),
  )
})
process.once('disconnect', () => process.exit(0))
process.send?.('ready')
