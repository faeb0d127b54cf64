/** The matrix of a job: as wide and high as its window at most, with the datacenters told apart. */
import { describe, expect, it } from 'vitest'
import type { JobStatus } from '@reprise/jobs'
import { terminal } from '../../testing/sample-run.js'
import { textWidth } from '../width.js'
import { jobMatrix } from './job-matrix.js'

type Datacenter = JobStatus['datacenters'][number]
type Workflow = Datacenter['workflows'][number]

const workflow = (name: string, state: Workflow['state'], attempts = 1): Workflow => {
  return { name, state, attempts, charged: attempts - 1, nextAttemptAtMs: null, error: null, denied: null, history: [] }
}

const WORKFLOWS = [
  workflow('buy-with-a-long-workflow-name', 'blocked', 0),
  workflow('login', 'retrying', 2),
  workflow('report', 'succeeded', 3),
  workflow('search', 'failed', 4),
]

const datacenter = (name: string, workers = 1): Datacenter => {
  const counts = { total: 4, succeeded: 1, failed: 1, skipped: 0, cancelled: 0 }
  const report = { reportedAtMs: null, isLate: false, isCounted: false }
  return { name, state: 'running', counts, workers, workflows: WORKFLOWS, ...report }
}

const status = (names: readonly string[]): JobStatus =>
  ({
    ...{ id: 'j', name: 'checkout-probe', state: 'running', outcome: null, submittedAtMs: 0, completedAtMs: null },
    budgets: [{ datacenter: null, total: 10, used: 2, remaining: 8, grants: 2, refunds: 0 }],
    datacenters: names.map((name) => datacenter(name, name === 'sydney' ? 0 : 1)),
    waitsFor: `waits for ${names.join(', ')}; 0 of at least 4 datacenters completed; deadline in 1m55s`,
    isMinimumUnreachable: false,
  }) as unknown as JobStatus

const FIVE = ['frankfurt-1', 'virginia', 'singapore', 'sao-paulo', 'sydney']
const draw = (names: readonly string[], columns: number, rows = 24): string[] =>
  jobMatrix(status(names), 5000, { columns, rows }, terminal(columns))

describe('the matrix of a job', () => {
  it('names every datacenter whole in 80 columns, where the names of workflows give way', () => {
    expect(draw(FIVE, 79)).toEqual([
      'checkout-probe job j running, 5.0s',
      '                frankfurt-1  virginia     singapore    sao-paulo    sydney 2/4',
      '  buy-with-a-…  ·            ·            ·            ·            ·',
      '  login         ↻2           ↻2           ↻2           ↻2           ↻2',
      '  report        ✓3           ✓3           ✓3           ✓3           ✓3',
      '  search        ✗4           ✗4           ✗4           ✗4           ✗4',
      '  retries 2/10',
      '  waits for frankfurt-1, virginia, singapore, sao-paulo, sydney; 0 of at least',
      '  4 datacenters completed; deadline in 1m55s',
    ])
  })

  it('has words and counts in 200 columns, and says where no worker lives', () => {
    const lines = draw(FIVE, 199)
    expect(lines[1]).toMatch(/frankfurt-1 2\/4 +virginia 2\/4 +singapore 2\/4 +sao-paulo 2\/4 +sydney 2\/4 no worker$/)
    expect(lines[3]).toMatch(/^ {2}login +(↻ retry due +){4}↻ retry due$/)
    expect(lines[5]).toMatch(/^ {2}search +(✗ failed, 4 tries +){4}✗ failed, 4 tries$/)
  })

  it('is never wider or higher than the window, however many datacenters there are', () => {
    const many = Array.from({ length: 60 }, (_, index) => `datacenter-${index}`)
    for (const columns of [40, 79, 80, 120, 199, 200])
      for (const rows of [6, 8, 12, 24])
        for (const names of [FIVE, many, FIVE.slice(0, 1)]) {
          const lines = draw(names, columns, rows)
          expect(Math.max(...lines.map((line) => textWidth(line)))).toBeLessThanOrEqual(columns)
          expect(lines.length).toBeLessThanOrEqual(Math.max(rows, 9))
        }
    expect(draw(many, 79)[1]).toMatch(/\+\d+$/)
  })
})
