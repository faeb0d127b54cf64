/**
 * What every list of a ledger must do: pages that are read one after the other join to the whole, in its order, with
 * every limit, also while tasks are added. Imports the ledger's types and samples.
 */
import type { Ledger } from '../ledger/ledger.js'
import { keyIn, scopeOfRun, type TaskKey, type TaskRecord } from '../ledger/records.js'
import { type Check, same } from './contract-checks.js'
import { sampleRun } from './run-contract.js'
import { sampleAttempt, type SampleHistory, writeHistory } from './sample-history.js'
import { newTask, sampleTask } from './sample-task.js'

const LIMITS = [1, 2, 1000]
const RUN = 'night-1'
const ALL = { scopeKind: 'task', scope: 'mail' } as const

/** More pages than any case here has rows: a ledger that needs more gives the same page again and again. */
const MOST_PAGES = 1000

/** Reads pages until one is not full. */
async function joined<T>(
  read: (after: T | undefined, limit: number) => Promise<readonly T[]>,
  limit: number,
): Promise<T[]> {
  const all: T[] = []
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const page = await read(all.at(-1), limit)
    all.push(...page)
    if (page.length < limit) return all
  }
  throw new Error(`The list does not end after ${MOST_PAGES} pages of ${limit}`)
}

/** The whole list and its pages are the same, with every limit. */
async function samePages<T>(
  whole: readonly T[],
  read: (page: { after?: T; limit: number }) => Promise<readonly T[]>,
): Promise<void> {
  for (const limit of LIMITS)
    same(await joined<T>((after, most) => read({ limit: most, ...(after !== undefined && { after }) }), limit), whole)
}

const steps = (ids: readonly string[]): SampleHistory[] =>
  ids.map((id, index) => ({
    task: { ...keyIn(scopeOfRun(RUN), id), status: 'succeeded', dueAtMs: null, result: { n: index } },
    attempts: [
      { attempt: 1, outcome: 'interrupted', failure: null, signature: null },
      { attempt: 1, execution: 2 },
      { attempt: 2, outcome: 'success' },
    ],
  }))

const failed = (id: string, attempt = 1): Partial<TaskRecord> & { id: string } => {
  const { progress } = sampleTask()
  const retry = { ...progress.retry, failures: attempt, launched: attempt }
  return { id, progress: { ...progress, retry } }
}

/** With a current attempt: it was interrupted. */
const interrupted = (id: string): Partial<TaskRecord> & { id: string } => {
  const { progress } = sampleTask()
  const current = { attempt: 1, startedAtMs: 1, execution: 1 }
  return { id, progress: { ...progress, retry: { ...progress.retry, launched: 1 }, current } }
}

const idsOf = (tasks: readonly TaskKey[]): string[] => tasks.map(({ id }) => id)

export const PAGE_CASES: Readonly<Record<string, Check>> = {
  'lists tasks in pages that join to the whole, with and without their inputs': async (ledger) => {
    await ledger.create(['c', 'a', 'e', 'b', 'd'].map((id) => newTask({ id })))
    await ledger.create([newTask({ scope: 'other', id: 'a' }), newTask({ scopeKind: 'run', scope: RUN, id: 'z' })])
    const whole = await ledger.list({})
    same(idsOf(whole), ['z', 'a', 'b', 'c', 'd', 'e', 'a'])
    await samePages(whole, (page) => ledger.list(page))
    const bare: TaskRecord[] = whole.map((task) => ({ ...task, input: null }))
    await samePages(bare, (page) => ledger.list({ ...page, withInput: false }))
    await samePages(
      whole.filter(({ scope }) => scope === 'mail'),
      (page) => ledger.list({ ...ALL, ...page }),
    )
  },

  'joins pages of tasks while tasks are added: none twice, and none of those that were there lost': async (ledger) => {
    await ledger.create(['b', 'd', 'f', 'h'].map((id) => newTask({ id })))
    const seen: string[] = []
    let after: TaskRecord | undefined
    for (const added of ['a', 'e', 'g', 'i']) {
      const [task] = await ledger.list({ ...ALL, limit: 1, ...(after && { after }) })
      seen.push((task as TaskRecord).id)
      after = task
      await ledger.create([newTask({ id: added })])
    }
    const rest = await ledger.list({ ...ALL, limit: 1000, after: after as TaskRecord })
    same([...seen, ...idsOf(rest)], ['b', 'd', 'e', 'f', 'g', 'h', 'i'])
  },

  'lists runs in pages that join to the whole, by time and by the beginning of their ids': async (ledger) => {
    for (const [id, createdAtMs] of Object.entries({ 'n-1': 5, 'n-2': 5, 'n-3': 7, 'm-1': 5, 'n-4': 1 }))
      await ledger.transact({ tasks: [], runs: [id] }, () => ({
        runs: [{ run: sampleRun({ id, createdAtMs }), definition: {} }],
        result: 0,
      }))
    const whole = await ledger.runs({})
    same(
      whole.map(({ id }) => id),
      ['n-3', 'n-2', 'n-1', 'm-1', 'n-4'],
    )
    await samePages(whole, (page) => ledger.runs(page))
    const named = await ledger.runs({ idPrefix: 'n-' })
    same(
      named.map(({ id }) => id),
      ['n-4', 'n-3', 'n-2', 'n-1'],
    )
    await samePages(named, (page) => ledger.runs({ idPrefix: 'n-', ...page }))
  },

  'lists attempts and results of a run in pages that join to the whole': async (ledger) => {
    await writeHistory(ledger, [...steps(['c', 'a', 'b']), { task: { scopeKind: 'run', scope: 'night-2', id: 'a' } }])
    const attempts = await ledger.attemptsOfRun(RUN)
    same(
      attempts.map(({ id, attempt, execution }) => `${id} ${attempt}.${execution}`),
      ['a', 'b', 'c'].flatMap((id) => [`${id} 1.1`, `${id} 1.2`, `${id} 2.1`]),
    )
    await samePages(attempts, (page) => ledger.attemptsOfRun(RUN, page))
    const results = await ledger.results(RUN)
    same(
      results.map(({ id, result }) => [id, result]),
      [
        ['a', { n: 1 }],
        ['b', { n: 2 }],
        ['c', { n: 0 }],
      ],
    )
    await samePages(results, ({ after, limit }) => ledger.results(RUN, { limit, ...(after && { after: after.id }) }))
    await writeHistory(ledger, steps(['d', 'A']))
    same(await ledger.results(RUN, { after: 'c' }), [{ id: 'd', result: { n: 0 }, failures: 0 }])
  },

  'lists dead letters by time, scope and kind of failure, in pages that join to the whole': async (ledger) => {
    const letter = (id: string, atMs: number, signature = 'Error: no luck', scope = 'mail'): SampleHistory => ({
      task: { id, scope, status: 'failed', dueAtMs: null },
      dead: [{ atMs, signature }],
    })
    await writeHistory(ledger, [
      letter('c', 3),
      letter('a', 5, 'Error: late'),
      letter('b', 3),
      letter('d', 1),
      letter('a', 3, 'Error: late', 'print'),
    ])
    const whole = await ledger.deadLetters()
    same(
      whole.map(({ scope, id }) => `${scope}/${id}`),
      ['mail/d', 'mail/b', 'mail/c', 'print/a', 'mail/a'],
    )
    await samePages(whole, (page) => ledger.deadLetters(page))
    await samePages(
      whole.filter(({ scope }) => scope === 'mail'),
      (page) => ledger.deadLetters({ ...ALL, ...page }),
    )
    const late = whole.filter(({ signature }) => signature === 'Error: late')
    same(late.length, 2)
    await samePages(late, (page) => ledger.deadLetters({ signature: 'Error: late', ...page }))
  },

  'lists tasks that are retried by due time, in pages that join to the whole, and no fresh ones': async (ledger) => {
    await ledger.create([
      newTask({ ...failed('c'), dueAtMs: 30 }),
      newTask({ ...failed('b', 2), dueAtMs: 30, queue: 'other', scope: 'other' }),
      newTask({ ...failed('a'), dueAtMs: 40, policyHash: 'p2' }),
      newTask({ ...interrupted('i'), dueAtMs: 20 }),
      newTask({ id: 'p', status: 'parked', owner: 'me', dueAtMs: 35 }),
      newTask({ id: 'fresh', dueAtMs: 1 }),
      newTask({ ...failed('r'), status: 'running', owner: 'me', dueAtMs: null }),
      newTask({ ...failed('s'), status: 'succeeded', dueAtMs: null }),
    ])
    const whole = await ledger.retrying()
    same(idsOf(whole), ['i', 'b', 'c', 'p', 'a'])
    await samePages(whole, (page) => ledger.retrying(page))
    await ledger.create([newTask({ ...failed('bb'), dueAtMs: 30 }), newTask({ ...failed('z'), dueAtMs: 5 })])
    same(idsOf(await ledger.retrying({ after: whole[1] as TaskRecord })), ['bb', 'c', 'p', 'a'])
  },

  'lists tasks that wait by policy and rank, in pages that join to the whole, and counts them': async (ledger) => {
    await ledger.create([
      ...['d', 'b', 'c'].map((id) => newTask({ ...failed(id), dueAtMs: 7 })),
      newTask({ ...failed('a'), dueAtMs: 9 }),
      newTask({ ...failed('undated'), dueAtMs: null }),
      newTask({ ...interrupted('i') }),
      newTask({ id: 'f' }),
      newTask({ id: 'g', policyHash: 'p2' }),
      newTask({ id: 'q', queue: 'print' }),
      newTask({ ...failed('r'), status: 'running', owner: 'me', dueAtMs: null }),
    ])
    same(await ledger.countWaiting('mail'), [
      { policyHash: 'p1', rank: 0, tasks: 1 },
      { policyHash: 'p1', rank: 1, tasks: 5 },
      { policyHash: 'p1', rank: 2, tasks: 1 },
      { policyHash: 'p2', rank: 2, tasks: 1 },
    ])
    same(await ledger.countWaiting('nobody'), [])
    const retries = { queue: 'mail', policyHash: 'p1', rank: 1 }
    const whole = await ledger.waiting(retries)
    same(idsOf(whole), ['undated', 'b', 'c', 'd', 'a'])
    await samePages(whole, (page) => ledger.waiting({ ...retries, ...page }))
    same(idsOf(await ledger.waiting({ ...retries, rank: 0 })), ['i'])
  },

  'lists tasks that changed since a time': async (ledger) => {
    await ledger.create(['a', 'b', 'c', 'd'].map((id, index) => newTask({ id, updatedAtMs: 500 + index })))
    const changed = await ledger.list({ ...ALL, sinceMs: 501 })
    same(idsOf(changed), ['b', 'c', 'd'])
    await samePages(changed, (page) => ledger.list({ ...ALL, sinceMs: 501, ...page }))
  },

  'counts fresh tasks that are as they were created, and gives the others': async (ledger) => {
    const { progress } = sampleTask()
    const { retry: _retry, ...stateless } = progress
    await ledger.create([
      ...['a', 'b', 'c', 'd', 'e'].map((id) => newTask({ id, dueAtMs: 1000 })),
      newTask({ id: 'a', scope: 'other', dueAtMs: 1000 }),
      newTask({ id: 'late', updatedAtMs: 2001 }),
      newTask({ id: 'older', progress: stateless as TaskRecord['progress'] }),
      newTask({ id: 'many', progress: { ...progress, retry: { ...progress.retry, launched: 7 } } }),
      newTask({ id: 'undated', dueAtMs: null }),
      newTask({ id: 'other', policyHash: 'p2' }),
      newTask({ ...failed('retry') }),
    ])
    const reset = keyIn(ALL, 'reset')
    await ledger.create([newTask({ id: 'reset', generation: 2 })])
    await ledger.transact({ tasks: [reset] }, () => ({ attempts: [sampleAttempt(reset, {})], result: 0 }))
    for (const limit of LIMITS)
      same(await surveyed(ledger, 2, limit), [6, ['late', 'many', 'older', 'reset', 'undated']])
  },

  'counts retries only if record and attempts agree, and gives the others': async (ledger) => {
    const failure = { name: 'Error', message: 'says "totalDelayMs":-1, and 100 % of it' }
    const retried = (id: string, change: object = {}, attempts = 1): SampleHistory => {
      const { progress } = failed(id, attempts) as TaskRecord
      const retry = { ...progress.retry, totalDelayMs: 30, lastDelayMs: 10, expiresAtMs: 9000, ...change }
      const rows = Array.from({ length: attempts }, (_, index) => ({ attempt: index + 1 }))
      return { task: { id, progress: { ...progress, retry, lastFailure: failure } }, attempts: rows }
    }
    const untold = { ...retried('untold', { failures: 2, launched: 2 }) }
    const sound = [retried('a'), retried('b', {}, 3), retried('c', { resumed: true, deadlineAtMs: 1.5 })]
    const faulty = [
      untold,
      retried('many', {}, 4),
      retried('negative', { totalDelayMs: -1, lastDelayMs: -1 }),
      retried('newer', { version: 9 }),
      retried('text', { expiresAtMs: 'soon' }),
      { ...retried('later'), task: { ...retried('later').task, updatedAtMs: 2001 } },
      { ...retried('reset'), task: { ...retried('reset').task, generation: 2 } },
    ]
    await writeHistory(ledger, [...sound, ...faulty])
    const looked = idsOf(faulty.map(({ task }) => task as TaskRecord))
    for (const limit of LIMITS) {
      const [counted, others] = await surveyed(ledger, 1, limit)
      same(counted + others.length, sound.length + faulty.length)
      same(
        looked.filter((id) => !others.includes(id)),
        [],
      )
    }
  },
}

/** A whole survey of one rank: how many were only counted, and which have to be looked at. */
async function surveyed(ledger: Ledger, rank: number, limit: number): Promise<[number, string[]]> {
  const filter = { queue: 'mail', policyHash: 'p1', rank, attempts: 3, nowMs: 2000, limit }
  let page = await ledger.survey(filter)
  let { sound } = page
  const others = [...page.others]
  for (let pages = 1; page.end !== undefined; pages++) {
    if (pages > MOST_PAGES) throw new Error(`The survey does not end after ${MOST_PAGES} pages of ${limit}`)
    page = await ledger.survey({ ...filter, after: page.end })
    sound += page.sound
    others.push(...page.others)
  }
  return [sound, idsOf(others).toSorted()]
}
