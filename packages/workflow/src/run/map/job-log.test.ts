/** The job log of a map. Imports the log alone. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { JobLog } from './job-log.js'

test('a job log that a resume continues has one line of headings', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'reprise-joblog-'))
  try {
    const file = path.join(directory, 'jobs.tsv')
    const event = { type: 'attempt_finished', scopeKind: 'run', scope: 'r/map', taskId: '0000000.a', attempt: 1 }
    for (let life = 0; life < 2; life++) {
      const log = new JobLog(file, 'r/map', (error) => expect.unreachable(error.message))
      log.onEvent({ ...event, timeMs: 1000, durationMs: 500, outcome: 'success' } as never)
    }
    const lines = readFileSync(file, 'utf8').trim().split('\n')
    expect(lines.map((line) => line.split('\t')[0])).toEqual(['item', '0000000.a', '0000000.a'])
  } finally {
    rmSync(directory, { recursive: true })
  }
})
