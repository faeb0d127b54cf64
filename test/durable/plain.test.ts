/** The short way of plain tasks writes what the way with all the bookkeeping writes. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isPlain } from '../../packages/reprise/src/durable/plain.js'
import type { Definition } from '../../packages/reprise/src/durable/definition.js'
import type { TaskGroup } from '../../packages/reprise/src/durable/group.js'
import type { Json } from '../../packages/reprise/src/ledger/records.js'
import { type Host, ProcessModel, turns } from './process-model.js'

type End = 'ok' | 'fail' | 'fatal' | 'hang' | 'no_json'
type Step = 'kill' | 'stop' | 'close' | 0 | 100 | 5000

interface Plan {
  readonly attempts: number
  readonly initialDelay: 0 | '300ms'
  readonly retryBudget: '1s' | undefined
  readonly onInterrupt: 'rerun' | 'fail'
  /** Of every task how its executions end, the first first; those after them succeed. */
  readonly ends: readonly (readonly End[])[]
  readonly steps: readonly Step[]
}

const END = fc.constantFrom<End>('ok', 'fail', 'fail', 'fail', 'fatal', 'hang', 'no_json')
const PLANS: fc.Arbitrary<Plan> = fc.record({
  attempts: fc.integer({ min: 1, max: 4 }),
  initialDelay: fc.constantFrom<0 | '300ms'>(0, '300ms'),
  retryBudget: fc.constantFrom('1s', undefined),
  onInterrupt: fc.constantFrom('rerun', 'rerun', 'fail'),
  ends: fc.array(fc.array(END, { maxLength: 6 }), { minLength: 1, maxLength: 4 }),
  steps: fc.array(fc.constantFrom<Step>('kill', 'stop', 'close', 0, 100, 100, 5000), { minLength: 2, maxLength: 8 }),
})

/** What a plan has left in the ledger; owners and correlation ids by the order in which they appear. */
async function rowsOf(plan: Plan, group: TaskGroup | undefined): Promise<Json> {
  const model = new ProcessModel()
  const { attempts, initialDelay, retryBudget, onInterrupt } = plan
  const policy = { attempts, initialDelay, ...(retryBudget && { retryBudget }) } as const
  const begun = plan.ends.map(() => 0)
  let seed = 0
  const open = async (): Promise<{ host: Host; start: (place: number) => Promise<unknown> }> => {
    const host = await model.open({ random: () => (seed = (seed + 0.37) % 1), concurrency: 2 })
    const perform = (place: number): unknown => {
      const execution = begun[place] ?? 0
      begun[place] = execution + 1
      const end = plan.ends[place]?.[execution] ?? 'ok'
      if (end === 'fail') throw new RangeError(`refused ${place}`)
      if (end === 'fatal') throw Object.assign(new Error('never'), { retryable: false })
      if (end === 'no_json') return new Date(0)
      return end === 'hang' ? new Promise(() => undefined) : Promise.resolve({ place, execution })
    }
    const task = host.durable.task('t', policy, perform as (place: number) => null, {
      onInterrupt,
      ...(group && { group }),
    })
    return { host, start: (place) => task.start(place, { id: `t${place}` }) }
  }
  let { host, start } = await open()
  for (const place of plan.ends.keys()) await start(place)
  await turns()
  for (const step of [...plan.steps, 'kill', 'kill', 'kill', 5000, 5000, 5000, 5000] as const) {
    if (typeof step === 'number') await model.clock.advance(step)
    else {
      if (step === 'kill') await host.kill()
      else await host.durable[step]()
      ;({ host, start } = await open())
      await host.durable.resume()
    }
    await turns()
  }
  const tasks = await model.ledger.list({ limit: 100 })
  const attemptsOf = await Promise.all(tasks.map((task) => model.ledger.attempts(task)))
  const rows = { tasks, attemptsOf, events: await model.ledger.events(0, 1000), dead: await model.ledger.deadLetters() }
  const names = new Map<string, string>()
  const text = JSON.stringify(rows).replaceAll(
    /[0-9a-f]{8}-[0-9a-f-]{27}/g,
    (id) => names.get(id) ?? (names.set(id, `id ${names.size}`), `id ${names.size - 1}`),
  )
  await host.durable.close()
  return JSON.parse(text.replaceAll(',"grouped":true', '')) as Json
}

describe('a plain task', () => {
  it('leaves the same rows as one with a group, whatever happens to it', async () => {
    let changes = 0
    const group: TaskGroup = { keys: () => ({}), follow: () => (changes++, {}) }
    await fc.assert(
      fc.asyncProperty(PLANS, async (plan) => {
        expect(await rowsOf(plan, undefined)).toEqual(await rowsOf(plan, group))
      }),
      { seed: 17, numRuns: 40 },
    )
    expect(changes).toBeGreaterThan(40)
  })

  it('is one that nobody else has to be asked or told about', () => {
    const plain = { policy: {}, onInterrupt: 'rerun' } as Definition
    expect(isPlain(plain)).toBe(true)
    const others: Partial<Record<keyof Definition, unknown>>[] = [
      ...['budget', 'breaker', 'timeoutMs'].map((field) => ({ policy: { [field]: {} } })),
      ...(['conductor', 'group', 'allot', 'batch', 'runClaimed', 'onRecorded', 'most', 'rate'] as const).map(
        (field) => ({
          [field]: {},
        }),
      ),
      { onInterrupt: 'charge' },
      { prefersOthers: true },
      { keepsNoLetters: true },
    ]
    for (const other of others) expect(isPlain({ ...plain, ...other } as Definition), JSON.stringify(other)).toBe(false)
  })
})
