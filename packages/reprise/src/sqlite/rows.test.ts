/** Rows that are none of ours: told as what they are, with the ledger and the place. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { newTask, sampleTask } from '../testing/sample-task.js'
import { openDatabase } from './driver.js'
import { openSqlite } from './open-sqlite.js'
import {
  attemptOf,
  attemptValues,
  DamagedRow,
  parse,
  taskOf,
  text,
  UPDATED_COLUMNS,
  updatedValues,
} from '../ledger/rows.js'
import type { SqliteLedger } from './sqlite-ledger.js'
import { clockReading } from '../../../../test/clock-reading.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-rows-'))
afterAll(() => rmSync(directory, { recursive: true }))
let files = 0
const KEY = { scopeKind: 'task', scope: 'mail', id: 'a' } as const

describe('a value', () => {
  it.each([null, true, 0.1, 'ä\u0000😀"', [1, [2]], { a: { b: null } }])('comes back from its text: %j', (value) => {
    expect(parse(text(value), 'here')).toEqual(value)
  })

  it.each(['{', '', null, undefined])('that is no JSON is damage: %j', (value) => {
    expect(() => parse(value, 'gate x')).toThrow(DamagedRow)
    expect(() => parse(value, 'gate x')).toThrow('gate x holds no JSON')
  })
})

describe('a record', () => {
  it('has a value for every column that an update writes', () => {
    expect(updatedValues(sampleTask())).toHaveLength(UPDATED_COLUMNS.length)
  })

  it('without a result has none afterwards', () => {
    const row = { ...sampleRow(), result: null }
    expect('result' in taskOf(row).task).toBe(false)
    expect(taskOf({ ...row, result: 'null' }).task.result).toBeNull()
  })

  it('of an attempt keeps that nothing failed', () => {
    const row = {
      ...KEY,
      generation: 1,
      attempt: 1,
      execution: 1,
      startedAtMs: 1,
      endedAtMs: 2,
      outcome: 'success',
    } as const
    const values = attemptValues(7, { ...row, delayBeforeMs: 0, failure: null, signature: null, owner: 'me' })
    expect(values).toContain(null)
    const columns = {
      generation: 1,
      attempt: 1,
      execution: 1,
      started_at: 1,
      ended_at: 2,
      outcome: 'success',
      owner: 'me',
    }
    expect(attemptOf({ ...columns, delay_before: 0, failure: null }, KEY).failure).toBeNull()
  })
})

function sampleRow(): Record<string, string | number | null> {
  const { progress, input } = sampleTask()
  const times = { due_at: 1, created_at: 1, updated_at: 1 }
  const words = {
    scope_kind: 'task',
    scope: 'mail',
    id: 'a',
    queue: 'mail',
    status: 'waiting',
    policy_hash: 'p',
    correlation_id: 'c',
  } as const
  const rest = { owner: null, stop_reason: null, pk: 1, generation: 1, fence: 0 }
  return { ...times, ...words, ...rest, progress: text(progress), input: text(input) }
}

describe('a damaged row', () => {
  async function damaged(sql: string): Promise<{ ledger: SqliteLedger; file: string }> {
    const file = path.join(directory, `${files++}.db`)
    const ledger = await openSqlite(file, { clock: clockReading(() => 0) })
    await ledger.create([newTask(), newTask({ id: 'b' })])
    await ledger.heartbeat({
      id: 'o',
      host: 'h',
      pid: 1,
      processStart: '',
      bootId: '',
      startedAtMs: 0,
      leaseUntilMs: 0,
    })
    const other = await openDatabase(file)
    other.exec(sql)
    other.close()
    return { ledger, file }
  }

  it('is told with ledger, place and cure, and the others can be used', async () => {
    const { ledger, file } = await damaged(`UPDATE tasks SET progress = '{"retry":' WHERE id = 'a'`)
    const expected = {
      problem: 'corrupt',
      message: expect.stringMatching(new RegExp(`sqlite:${file} is damaged: task mail/a .*restore a backup`)),
    }
    await expect(ledger.get(KEY)).rejects.toMatchObject(expected)
    await expect(ledger.list({})).rejects.toMatchObject(expected)
    await expect(ledger.transact({ tasks: [KEY] }, () => ({ result: 1 }))).rejects.toMatchObject(expected)
    expect(await ledger.get({ scopeKind: 'task', scope: 'mail', id: 'b' })).toMatchObject({ id: 'b' })
    await ledger.close()
  })

  it.each([
    [`UPDATE policies SET policy = ''`, 'policy p1', (ledger: SqliteLedger) => ledger.policy('p1')],
    [`UPDATE owners SET record = ''`, 'an owner', (ledger: SqliteLedger) => ledger.owners()],
    [
      `INSERT INTO gates (key, kind, state) VALUES ('g', 'budget', '')`,
      'gate g',
      (ledger: SqliteLedger) => ledger.gates(),
    ],
    [
      `INSERT INTO gates (key, kind, state, settings) VALUES ('g', 'budget', '1', '{')`,
      'gate g',
      (ledger: SqliteLedger) => ledger.gates(),
    ],
  ])('is told by every verb that meets it: %s', async (sql, place, look) => {
    const { ledger } = await damaged(sql)
    await expect(look(ledger)).rejects.toMatchObject({ problem: 'corrupt', message: expect.stringContaining(place) })
    await ledger.close()
  })
})
