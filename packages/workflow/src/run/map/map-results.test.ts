/** The result files of a map, over a ledger in memory. Imports the library and the files. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Json, Ledger, TaskFilter, TaskRecord } from 'reprise/durable'
import { MapResults } from './map-results.js'

describe('the result files of a map', () => {
  let directory: string
  beforeEach(() => void (directory = mkdtempSync(path.join(tmpdir(), 'reprise-results-'))))
  afterEach(() => rmSync(directory, { recursive: true, force: true }))

  const taskOf = (index: number, result: Json): TaskRecord =>
    ({
      id: `${String(index).padStart(7, '0')}.k`,
      status: 'succeeded',
      input: { key: 'k', value: index },
      result,
      progress: { retry: { launched: 1, failures: 0 }, lastFailure: null },
    }) as unknown as TaskRecord

  const resultsOver = (ledger: Partial<Ledger>, signal = new AbortController().signal): MapResults =>
    new MapResults({ ledger: ledger as Ledger, mapRun: 'r/map', directory, errors: { onItemFailure: 'dlq' }, signal })

  const pagesOf = (tasks: readonly TaskRecord[], limits: number[] = []): Pick<Ledger, 'list'> => ({
    list: async ({ limit = Infinity, after }: TaskFilter) => {
      limits.push(limit)
      const first = after === undefined ? 0 : tasks.findIndex(({ id }) => id === (after as TaskRecord).id) + 1
      return tasks.slice(first, first + limit)
    },
  })
  const linesOf = (name: string): string[] =>
    readFileSync(path.join(directory, name), 'utf8').split('\n').filter(Boolean)

  test('hold every item once, also if they are completed while ended items are being appended', async () => {
    const tasks = Array.from({ length: 300 }, (_, index) => taskOf(index, index))
    const ledger = pagesOf(tasks)
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    let isFirst = true
    const results = resultsOver({
      list: async (filter: TaskFilter = {}) => {
        const isHeld = isFirst
        isFirst = false
        const page = await ledger.list(filter)
        if (isHeld) await held
        return page
      },
    })
    const appended = results.advance()
    const again = results.advance()
    const completed = results.complete()
    setImmediate(() => setImmediate(release))
    await Promise.all([appended, again, completed])
    expect(linesOf('results.ndjson')).toHaveLength(300)
  })

  test('stay whole when a process that has lost the map goes on appending', async () => {
    const tasks = Array.from({ length: 300 }, (_, index) => taskOf(index, index))
    const seen = tasks.slice(0, 100)
    const former = resultsOver(pagesOf(seen))
    await former.advance()
    const later = resultsOver(pagesOf(tasks))
    await later.complete()
    seen.push(...tasks.slice(100))
    await former.advance()
    await former.end()
    expect(linesOf('results.ndjson')).toHaveLength(300)
  })

  test('are a value for later steps up to 1 MiB of results, whatever else is in their lines', async () => {
    const many = Array.from({ length: 30_000 }, (_, index) => taskOf(index, index))
    expect((await resultsOver(pagesOf(many)).complete())?.results).toHaveLength(30_000)
    const large = Array.from({ length: 3 }, (_, index) => taskOf(index, 'x'.repeat(400_000)))
    expect((await resultsOver(pagesOf(large)).complete())?.results).toBeUndefined()
  })

  test('are read in pages that are smaller for larger items', async () => {
    const limits: number[] = []
    const large = Array.from({ length: 250 }, (_, index) => taskOf(index, 'x'.repeat(300_000)))
    await resultsOver(pagesOf(large, limits)).complete()
    expect(limits[1]).toBeLessThan(60)
    limits.length = 0
    await resultsOver(
      pagesOf(
        Array.from({ length: 250 }, (_, index) => taskOf(index, 1)),
        limits,
      ),
    ).complete()
    expect(limits).toEqual([100, 2000])
  })

  test('are given up when the run is stopped while they are written', async () => {
    const stop = new AbortController()
    const tasks = Array.from({ length: 300 }, (_, index) => taskOf(index, index))
    const ledger = pagesOf(tasks)
    const list: Ledger['list'] = async (filter) => {
      stop.abort()
      return ledger.list(filter)
    }
    expect(await resultsOver({ list }, stop.signal).complete()).toBeUndefined()
    expect(readdirSync(directory)).toEqual([])
  })

  test('leave nothing beside them when the manifest cannot be written', async () => {
    mkdirSync(path.join(directory, 'manifest.json'))
    const results = resultsOver(pagesOf([taskOf(0, 1)]))
    await expect(results.complete()).rejects.toMatchObject({ code: 'state' })
    expect(readdirSync(directory).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  test('are written again for a later process only where they are missing', async () => {
    const tasks = [taskOf(0, 'a'), taskOf(1, 'b')]
    const read = {
      ...pagesOf(tasks),
      results: async () => tasks.map(({ id, result }) => ({ id, result, failures: 0 })),
    }
    const results = resultsOver(read as unknown as Ledger)
    expect((await results.completed()).results).toEqual(['a', 'b'])
    expect(existsSync(path.join(directory, 'manifest.json'))).toBe(true)
    const unread = resultsOver({ results: read.results } as unknown as Ledger)
    expect(await unread.completed()).toEqual({ file: results.file, results: ['a', 'b'] })
  })
})
