/** Dead letters by hand, over every kind of store: redriven once, edited, acknowledged, purged. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Durable } from '../../packages/reprise/src/durable/durable.js'
import { acknowledgeLetter, editInput, purgeLetters } from '../../packages/reprise/src/durable/letter-control.js'
import { type LetterRef, redriveLetters } from '../../packages/reprise/src/durable/redrive.js'
import type { TaskOptions } from '../../packages/reprise/src/durable/task-options.js'
import type { TaskHandle } from '../../packages/reprise/src/durable/tasks.js'
import { redriveWith } from '../../packages/reprise/src/internal/redrive.js'
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import type { Json, TaskRecord } from '../../packages/reprise/src/ledger/records.js'
import { openDurable } from '../../packages/reprise/src/open/open-durable.js'
import { faultsIn } from '../durable/task-faults.js'
import { countedTally, makeTally, tallyGroup, tallyOf } from '../durable/tally-group.js'
import { until } from '../gates/until.js'
import { type SharedStore, THREE_STORES } from './three-stores.js'

const ACTOR = { reason: 'the provider is back', by: 'ada' }
const keyOf = (id: string) => ({ scopeKind: 'task', scope: 'work', id }) as const
const IDS = Array.from({ length: 25 }, (_, index) => `t${index}`)

describe.each(THREE_STORES)('a dead letter in $name', { timeout: 60_000 }, ({ make }) => {
  let store: SharedStore
  let operator: Ledger
  const programs: Durable[] = []
  /** What the function of the task was given, call by call. */
  let calls: Json[]
  let isDown: boolean

  beforeEach(async () => {
    store = await make()
    operator = await store.open()
    calls = []
    isDown = true
  })
  afterEach(async () => {
    for (const durable of programs.splice(0)) await durable.close()
    await operator.close()
    await store.remove()
  })

  async function program(
    options: TaskOptions<Json, Json> = {},
    attempts = 1,
  ): Promise<{ durable: Durable; work: TaskHandle<Json, Json> }> {
    const durable = await openDurable(await store.open())
    programs.push(durable)
    const run = (input: Json): Json => {
      calls.push(input)
      if (isDown) throw new Error('down')
      return input
    }
    return { durable, work: durable.task<Json, Json>('work', { attempts, initialDelay: 0 }, run, options) }
  }

  const all = (status: TaskRecord['status']): Promise<readonly TaskRecord[]> =>
    operator.list({ scope: 'work', statuses: [status] })
  const untilAll = (status: TaskRecord['status'], generation: number, count = IDS.length): Promise<unknown> =>
    until(async () => {
      const ended = (await all(status)).filter((task) => task.generation === generation)
      return ended.length === count || undefined
    }, `${count} ${status} tasks of generation ${generation}`)
  const openLetters = (): Promise<readonly LetterRef[]> => operator.deadLetters({ scope: 'work', isOpen: true })
  const failAll = async (work: TaskHandle<Json, Json>): Promise<void> => {
    await work.startAll(IDS.map((id) => ({ id, input: id })))
    await untilAll('failed', 1)
  }
  const eventsOf = async (id: string): Promise<[string, Json][]> =>
    (await operator.events(0, 10_000, keyOf(id))).flatMap((event) =>
      event.id === id ? [[event.type, event.detail]] : [],
    )

  it('is redriven once by two redrives at the same time, though the tasks fail again at once', async () => {
    const { durable, work } = await program()
    const other = await program()
    await failAll(work)
    const letters = await openLetters()
    const options = { ...ACTOR, redriveId: 'r1' }
    const answers = await Promise.all([
      redriveWith(durable, letters, options),
      redriveWith(other.durable, letters.toReversed(), options),
      redriveLetters(operator, letters, options),
    ])
    const said = answers.flat()
    expect(said.filter(({ answer }) => answer === 'redriven')).toHaveLength(IDS.length)
    expect(said.filter(({ answer }) => answer === 'done_before')).toHaveLength(2 * IDS.length)
    await untilAll('failed', 2)
    // A redrive that was killed is repeated with the letters that it had.
    const again = await redriveWith(durable, letters, options)
    expect(new Set(again.map(({ answer }) => answer))).toEqual(new Set(['done_before']))
    expect(calls).toHaveLength(2 * IDS.length)
    expect(await eventsOf('t0')).toEqual([['reset', { generation: 2, ...ACTOR, redriveId: 'r1' }]])
    isDown = false
    await redriveWith(durable, await openLetters(), ACTOR)
    await untilAll('succeeded', 3)
    expect(await openLetters()).toEqual([])
    for (const id of IDS) expect(await faultsIn(operator, keyOf(id))).toEqual([])
  })

  it('is redriven without a charge to the allotment, unless it is asked for', async () => {
    const { durable, work } = await program({ allot: { budget: 'imports', total: 100 } }, 3)
    await work.start(1, { id: 'a' })
    await untilAll('failed', 1, 1)
    const used = async (): Promise<unknown> =>
      (await operator.gates()).find(({ key }) => key === 'budget:imports')?.state
    expect(await used()).toMatchObject({ used: 2 })
    await redriveWith(durable, await openLetters(), ACTOR)
    await untilAll('failed', 2, 1)
    expect(await used()).toMatchObject({ used: 2 })
    await redriveWith(durable, await openLetters(), { ...ACTOR, charged: true })
    await untilAll('failed', 3, 1)
    expect(await used()).toMatchObject({ used: 4 })
    expect(await operator.get(keyOf('a'))).toMatchObject({ progress: { allotted: 4 } })
  })

  it('of a task with a group is redriven with its group, and left alone by a process that does not know it', async () => {
    await makeTally(operator, 'import', 1)
    const { durable, work } = await program({ group: tallyGroup('import') })
    await work.start(1, { id: 'a' })
    await untilAll('failed', 1, 1)
    expect(await tallyOf(operator, 'import')).toMatchObject({ failed: 1 })
    expect(await redriveLetters(operator, await openLetters(), ACTOR)).toMatchObject([{ answer: 'needs_program' }])
    isDown = false
    expect(await redriveWith(durable, await openLetters(), ACTOR)).toMatchObject([{ answer: 'redriven' }])
    await untilAll('succeeded', 2, 1)
    expect(await tallyOf(operator, 'import')).toEqual(await countedTally(operator, 'work'))
  })

  it('of an undecided task is left to a person, unless the redrive says otherwise', async () => {
    const { durable, work } = await program()
    await work.start(1, { id: 'a' })
    await untilAll('failed', 1, 1)
    await operator.transact({ tasks: [keyOf('a')] }, (view) => ({
      tasks: [{ ...(view.task(keyOf('a')) as TaskRecord), status: 'undecided', stopReason: 'interrupted' }],
      result: null,
    }))
    const letters = await openLetters()
    expect(await redriveWith(durable, letters, ACTOR)).toMatchObject([{ answer: 'undecided' }])
    await expect(acknowledgeLetter(operator, { ...keyOf('a'), generation: 1 }, ACTOR)).rejects.toMatchObject({
      kind: 'not_failed',
      message: expect.stringMatching(/undecided.*decide\(/) as string,
    })
    isDown = false
    expect(await redriveWith(durable, letters, { ...ACTOR, undecided: true })).toMatchObject([{ answer: 'redriven' }])
    await untilAll('succeeded', 2, 1)
  })

  it('of an undecided task is decided once: done with a result, or its attempt again', async () => {
    const { durable, work } = await program({}, 2)
    isDown = false
    for (const id of ['a', 'b']) await work.start(1, { id })
    await untilAll('succeeded', 1, 2)
    // As after the loss of a process during the first attempt.
    for (const id of ['a', 'b'])
      await operator.transact({ tasks: [keyOf(id)] }, (view) => {
        const { result: _result, ...task } = view.task(keyOf(id)) as TaskRecord
        const current = { attempt: 1, execution: 1, startedAtMs: view.now }
        const undecided = { ...task, status: 'undecided', stopReason: 'interrupted' } as const
        const letter = { ...keyOf(id), generation: 1, atMs: view.now, signature: '', failure: null }
        const tasks = [{ ...undecided, progress: { ...task.progress, current } }]
        return { tasks, dead: [{ ...letter, stopReason: 'interrupted' as const }], result: null }
      })
    const [a, b] = ['a', 'b'].map((id) => ({ ...keyOf(id), generation: 1 })) as [LetterRef, LetterRef]
    const done = { ...ACTOR, decision: { answer: 'done', result: { found: 7 } } } as const
    const decided = await Promise.all([redriveLetters(operator, [a], done), redriveWith(durable, [a], done)])
    expect(decided.map(([one]) => one?.answer).toSorted()).toEqual(['done_before', 'redriven'])
    expect(await operator.get(a)).toMatchObject({ status: 'succeeded', generation: 1, result: { found: 7 } })
    calls = []
    expect(await redriveWith(durable, [b], { ...ACTOR, decision: { answer: 'rerun' } })).toMatchObject([
      { answer: 'redriven' },
    ])
    await untilAll('succeeded', 1, 2)
    expect(calls).toEqual([1])
    expect(await operator.get(b)).toMatchObject({ progress: { retry: { launched: 1 } }, result: 1 })
    expect(await openLetters()).toEqual([])
    const history = await operator.analytics.history(b)
    expect(history?.events.find(({ type }) => type === 'decided')?.detail).toEqual({ answer: 'rerun', ...ACTOR })
    await expect(
      redriveLetters(operator, [a], { ...ACTOR, decision: { answer: 'done' } as never }),
    ).rejects.toMatchObject({ problems: [{ path: 'decision' }] })
  })

  it('is redriven into another queue, whose program then runs the task', async () => {
    const { durable, work } = await program()
    await work.start(1, { id: 'a' })
    await untilAll('failed', 1, 1)
    const letters = await openLetters()
    const moved = { ...ACTOR, queue: 'repair' }
    await expect(redriveWith(durable, letters, moved)).rejects.toThrow(/queue repair is registered/)
    const seen: Json[] = []
    durable.task<Json, null>('repair', { attempts: 2 }, (input) => void seen.push(input) as unknown as null)
    await redriveWith(durable, letters, moved)
    await untilAll('succeeded', 2, 1)
    expect(seen).toEqual([1])
    expect(await operator.get(keyOf('a'))).toMatchObject({ queue: 'repair', scope: 'work' })
  })

  it('gives its task another input, which the next generation gets, and keeps the old one in an event', async () => {
    const { durable, work } = await program()
    await work.start({ to: 'adda' }, { id: 'a' })
    await untilAll('failed', 1, 1)
    expect(await editInput(operator, keyOf('a'), { ...ACTOR, input: { to: 'ada' } })).toEqual({ to: 'adda' })
    expect(await operator.get(keyOf('a'))).toMatchObject({ input: { to: 'ada' }, status: 'failed', generation: 1 })
    isDown = false
    await redriveWith(durable, await openLetters(), ACTOR)
    await untilAll('succeeded', 2, 1)
    expect(calls).toEqual([{ to: 'adda' }, { to: 'ada' }])
    const [changed] = await eventsOf('a')
    expect(changed).toEqual(['input_changed', { generation: 1, before: { to: 'adda' }, ...ACTOR }])
    // Whoever sends the original again gets the result of the task that it is.
    expect(await work.run({ to: 'adda' }, { id: 'a' })).toEqual({ to: 'ada' })
    await expect(work.run({ to: 'ada' }, { id: 'a' })).rejects.toMatchObject({ kind: 'conflict' })
    await expect(editInput(operator, keyOf('a'), { ...ACTOR, input: 1 })).rejects.toMatchObject({ kind: 'not_failed' })
    await expect(editInput(operator, keyOf('b'), { ...ACTOR, input: 1 })).rejects.toMatchObject({ kind: 'not_found' })
    await expect(editInput(operator, keyOf('a'), { ...ACTOR, input: new Date() })).rejects.toThrow(/must be JSON/)
    expect(await faultsIn(operator, keyOf('a'))).toEqual([])
  })

  it('is acknowledged once, is not open any more, can still be redriven, and is purged in time', async () => {
    const { durable, work } = await program()
    await work.startAll([
      { id: 'a', input: 1 },
      { id: 'b', input: 2 },
    ])
    await untilAll('failed', 1, 2)
    const letter = { ...keyOf('a'), generation: 1 }
    const acked = await Promise.all([1, 2, 3].map(() => acknowledgeLetter(operator, letter, ACTOR)))
    expect(acked.filter(Boolean)).toHaveLength(1)
    expect(await openLetters()).toMatchObject([{ id: 'b' }])
    expect(await operator.deadLetters({ scope: 'work', isOpen: false })).toMatchObject([
      { id: 'a', closed: { by: 'acknowledged' } },
    ])
    expect(await eventsOf('a')).toEqual([['acknowledged', { generation: 1, ...ACTOR }]])
    expect(await faultsIn(operator, keyOf('a'))).toEqual([])
    const now = await operator.now()
    expect(await purgeLetters(operator, { untilMs: now - 60_000 })).toBe(0)
    expect(await purgeLetters(operator, { untilMs: now + 60_000, batch: 1 })).toBe(1)
    expect(await operator.deadLetters({ scope: 'work' })).toMatchObject([{ id: 'b' }])
    expect(await faultsIn(operator, keyOf('a'))).toEqual([])
    isDown = false
    await redriveWith(durable, [letter, { ...keyOf('c'), generation: 1 }], ACTOR)
    await untilAll('succeeded', 2, 1)
    expect(await operator.get(keyOf('a'))).not.toHaveProperty('progress.acknowledged')
    expect(await faultsIn(operator, keyOf('a'))).toEqual([])
  })
})
