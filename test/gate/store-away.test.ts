/** A gate whose PostgreSQL is away: it says so in bounded time, lives, and serves again when the store is back. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { openJobsWith } from '../../packages/jobs/src/jobs.js'
import { until } from '../gates/until.js'
import { failSome, named } from '../jobs/jobs-fixture.js'
import { QUICK } from '../jobs/job-policy.js'
import { PostgresProxy } from '../postgres/proxy.js'
import { testDatabase } from '../postgres/shared-server.js'
import { ask, jsonIn, post, testGate } from './gate-fixture.js'

describe('a gate whose store', () => {
  it.each(['silent', 'refusing'] as const)(
    'is %s answers 503 in time, and serves again',
    { timeout: 120_000 },
    async (how) => {
      const database = await testDatabase()
      const proxy = await PostgresProxy.listen(Number(new URL(database.url).port))
      const faults: string[] = []
      const jobs = await openJobsWith(`${proxy.urlOf(database.url)}?connections=2`, { env: {} }, { policy: QUICK })
      const gate = await testGate(jobs, { onFault: (text) => faults.push(text) }, { headersMs: 3000, requestMs: 3000 })
      onTestFinished(async () => {
        await gate.close()
        await jobs.close()
        await proxy.close()
        await database.drop()
      })
      await jobs.work({ datacenter: 'eu', handlers: { some: failSome } })
      const job = { datacenters: ['eu'], workflows: named(1), idempotency_key: 'k' }
      expect((await ask(gate, '/readyz')).status).toBe(200)
      if (how === 'silent') proxy.silenceAll()
      else proxy.resetAll()
      if (how === 'silent') {
        const lost = await post(gate, '/api/v1/jobs', job)
        expect([lost.status, lost.headers['retry-after']]).toEqual([503, expect.stringMatching(/^\d+$/)])
        await until(async () => (await ask(gate, '/readyz')).status === 503, 'that it is not ready')
        // Nothing that needs no store waits for one.
        expect((await ask(gate, '/healthz')).status).toBe(200)
        expect((await ask(gate, '/api/v1/jobs', { token: null })).status).toBe(401)
        proxy.heal('reset')
      }
      const again = await until(async () => {
        const answer = await post(gate, '/api/v1/jobs', job)
        return answer.status === 200 && answer
      }, 'that the job is accepted')
      await until(async () => (await ask(gate, '/readyz')).status === 200, 'that it is ready')
      const id = String(jsonIn(again)['job'])
      const result = await until(async () => {
        const answer = await ask(gate, `/api/v1/jobs/${id}/result?wait_seconds=2`)
        return answer.status === 200 && answer
      }, 'the result')
      expect(jsonIn(result)).toMatchObject({ outcome: 'complete', totals: { workflows: 1, succeeded: 1 } })
      expect(await jobs.list()).toHaveLength(1)
      for (const fault of faults) expect(fault).not.toMatch(/password|:\w+@/)
    },
  )
})
