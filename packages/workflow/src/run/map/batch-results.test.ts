import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { BatchResultsError, readBatchResults } from './batch-results.js'

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-results-'))
const file = path.join(directory, 'results.ndjson')
afterAll(() => rmSync(directory, { recursive: true, force: true }))

function read(text: string, isWhole = true): { outcomes: Record<string, unknown>; faults: readonly string[] } {
  writeFileSync(file, text)
  const { outcomes, faults } = readBatchResults(file, new Set(['a', 'b', 'Zürich']), isWhole)
  return { outcomes: Object.fromEntries(outcomes), faults }
}

describe('the lines of $REPRISE_RESULTS', () => {
  it('say what an item gave or how it failed, and the last line of an item counts', () => {
    const lines = ['{"key":"a","error":"first"}', '', '{"key":"a","result":{"n":1}}', '{"key":"Zürich","result":null}']
    expect(read(lines.join('\n'))).toEqual({
      outcomes: { a: { value: { n: 1 } }, Zürich: { value: null } },
      faults: [],
    })
  })

  it('may say of an error what policies go by', () => {
    const error = { message: 'down', code: 'ECONNRESET', exit_code: 7, status: 503, retryable: false, halt: true }
    const { outcomes } = read(`${JSON.stringify({ key: 'a', error })}\n`)
    expect(outcomes['a']).toMatchObject({
      error: { message: 'down', code: 'ECONNRESET', exitCode: 7, status: 503, retryable: false, halt: true },
    })
  })

  it.each([
    ['{"key":"a"', 'line 1 is not JSON: "{\\"key\\":\\"a\\""'],
    ['[1]', 'line 1 is no object: "[1]"'],
    ['{"result":1}', 'line 1 names no item: it has no text `key`'],
    ['{"key":"c","result":1}', 'line 1 names "c", which is no item of the batch'],
    ['{"key":"a"}', 'line 1 of "a" has neither `result` and `error`'],
    ['{"key":"a","result":1,"error":"x"}', 'line 1 of "a" has both `result` and `error`'],
    ['{"key":"a","results":1}', 'line 1 has an unknown field "results"'],
    ['{"key":"a","error":7}', 'line 1 of "a" has an `error` that is neither text nor an object'],
    ['{"key":"a","error":{}}', 'line 1 of "a" has an `error` without a text `message`'],
    ['{"key":"a","error":{"message":"x","why":1}}', 'line 1 of "a" has an unknown field `error.why`'],
  ])('of %s say what is wrong', (line, fault) => {
    expect(read(`${line}\n{"key":"b","result":1}\n`)).toEqual({ outcomes: { b: { value: 1 } }, faults: [fault] })
  })

  it('are read up to what a killed program left of its last one', () => {
    expect(read('{"key":"a","result":1}\n{"key":"b","res', false).faults).toEqual([])
    expect(read('{"key":"a","result":1}\n{"key":"b","res', true).faults).toHaveLength(1)
  })

  it('fail an item whose result is too large, and no other', () => {
    const { outcomes, faults } = read(`{"key":"a","result":"${'x'.repeat(1024 * 1024)}"}\n{"key":"b","result":2}`)
    expect(faults).toEqual([])
    expect(outcomes['a']).toMatchObject({
      error: { message: expect.stringMatching(/write it to a file/), retryable: false },
    })
    expect(outcomes['b']).toEqual({ value: 2 })
  })

  it('need not be there', () => {
    expect(readBatchResults(path.join(directory, 'absent'), new Set(['a']), true).outcomes.size).toBe(0)
  })

  it('are told with the first three faults', () => {
    expect(new BatchResultsError(['1', '2', '3', '4', '5']).message).toMatch(
      /^\$REPRISE_RESULTS: 1; 2; 3 \(and 2 more\): a line is/,
    )
  })
})
