/** Maps that are stopped on the way: by a person, by a limit, by a disk, or by a change of the document. On both stores. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Json, RunRecord } from 'reprise/durable'
import { afterEach, describe, expect, test } from 'vitest'
import { type MapDocument, MapFixture, noting, STORES } from './map-fixture.js'

const RUN = 'import-1'
const MAP = `${RUN}/map`

describe.each(STORES)('a map on %s that is stopped', (kind) => {
  let fixture: MapFixture
  afterEach(() => fixture.remove())
  const begin = async (): Promise<MapFixture> => (fixture = await MapFixture.in(kind))
  const runs = () => fixture.look(async (ledger) => [await ledger.run(RUN), await ledger.run(MAP)])

  /** Runs it, and stops it as soon as the file has a line. */
  const runUntilNoted = async (document: MapDocument, name: string): Promise<string> => {
    const stop = new AbortController()
    const timer = setInterval(() => {
      if (fixture.lines(name).length > 0) stop.abort()
    }, 10)
    try {
      return await fixture.run(document, { signal: stop.signal })
    } finally {
      clearInterval(timer)
    }
  }

  /** As a process leaves both runs that is killed before it has written their ends. */
  const forgetEnd = (): Promise<void> =>
    fixture.look(async (ledger) => {
      for (const id of [RUN, MAP])
        await ledger.transact({ tasks: [], runs: [id] }, (view) => {
          const run = view.run(id) as RunRecord
          const detail = { ...(run.detail as Record<string, Json>), ...(id === MAP && { halted: null, counts: null }) }
          return { runs: [{ run: { ...run, status: 'interrupted', endedAtMs: null, detail } }], result: undefined }
        })
    })

  test('while on_item_error runs does it again at the resume', async () => {
    await begin()
    const document: MapDocument = {
      map: {
        input: ['a'],
        agent_template: [{ shell: 'exit 3' }],
        on_item_error: [{ shell: 'echo begun >> given-up; [ -e go ] || sleep 60; echo done >> given-up' }],
      },
    }
    expect(await runUntilNoted(document, 'given-up')).toBe('interrupted')
    fixture.write('go', '')
    expect(await fixture.resume(document)).toBe('completed_with_failures')
    expect(fixture.lines('given-up')).toEqual(['begun', 'begun', 'done'])
  })

  test.each([
    ['on_item_failure: stop', { on_item_failure: 'stop' }, 'stop'],
    ['max_failures', { max_failures: 1 }, 'max_failures'],
  ])('by %s stays so if its process was killed before it wrote the end', async (_name, errors, reason) => {
    await begin()
    const document: MapDocument = {
      map: { input: { range: [1, 9] }, max_parallel: 1, agent_template: [{ shell: noting('[ ${item} != 2 ]') }] },
      error_policy: errors,
    }
    expect(await fixture.run(document)).toBe('failed')
    await forgetEnd()
    expect(await fixture.resume(document)).toBe('failed')
    expect(fixture.end.halted).toMatchObject({ kind: reason })
    expect(fixture.lines('starts')).toEqual(['1 1', '2 1'])
  })

  test('after a change of the policy was accepted goes on by that policy, without another answer', async () => {
    await begin()
    const document = (attempts: number): MapDocument => ({
      map: { input: [1, 2, 3], max_parallel: 1, agent_template: [{ shell: noting('[ -e go ] || sleep 60') }] },
      error_policy: { item_retry: { attempts } },
    })
    expect(await runUntilNoted(document(2), 'starts')).toBe('interrupted')
    fixture.write('go', '')
    // Stopped before the first item of the map has taken the new policy.
    const stop = AbortSignal.abort()
    expect(await fixture.resume(document(3), { acceptChanges: true, signal: stop })).toBe('interrupted')
    expect(await fixture.resume(document(3), { signal: AbortSignal.timeout(20_000) })).toBe('succeeded')
    const tasks = await fixture.look((ledger) => ledger.list({ scope: MAP }))
    expect(new Set(tasks.map(({ policyHash }) => policyHash)).size).toBe(1)
  })

  test('by a result file that cannot be written is left, says why, and ends when it can', async () => {
    await begin()
    const document: MapDocument = { map: { input: [1, 2], agent_template: [{ shell: noting() }] } }
    const directory = path.join(fixture.directory, 'state/runs/import-1/map')
    mkdirSync(path.join(directory, 'results.ndjson.tmp'), { recursive: true, mode: 0o700 })
    await expect(fixture.run(document)).rejects.toMatchObject({ code: 'state', errno: 'EISDIR' })
    expect((await runs()).map((run) => [run?.status, run?.owner])).toEqual([
      ['interrupted', null],
      ['interrupted', null],
    ])
    rmSync(path.join(directory, 'results.ndjson.tmp'), { recursive: true })
    expect(await fixture.resume(document)).toBe('succeeded')
    expect(fixture.lines('starts').toSorted()).toEqual(['1 1', '2 1'])
    expect(fixture.results()).toHaveLength(2)
  })

  test('by a log that cannot be written has no failed item, and goes on when it can', async () => {
    await begin()
    const document: MapDocument = {
      map: { input: { range: [1, 12] }, max_parallel: 4, agent_template: [{ shell: 'echo said' }] },
    }
    const directory = path.join(fixture.directory, 'state/runs/import-1/map')
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    // Where the directories of the logs would be made.
    const shards = Array.from({ length: 256 }, (_, shard) => shard.toString(16).padStart(2, '0'))
    for (const shard of shards) writeFileSync(path.join(directory, shard), '')
    await expect(fixture.run(document)).rejects.toMatchObject({ code: 'state' })
    const tasks = await fixture.look((ledger) => ledger.list({ scope: MAP }))
    expect(tasks.map(({ status }) => status)).toEqual(tasks.map(() => 'waiting'))
    for (const shard of shards) rmSync(path.join(directory, shard))
    expect(await fixture.resume(document)).toBe('succeeded')
  })
})
