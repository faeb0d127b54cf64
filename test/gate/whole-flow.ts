/**
 * Everything that gates and workers do with a store, once: what a database role must be allowed for. Imports sources.
 */
import type { Ledger } from 'reprise/durable'
import type { JobHandler } from '@reprise/jobs'
import { openJobsWith } from '../../packages/jobs/src/jobs.js'
import { removeJobs } from '../../packages/jobs/src/drive/remove-jobs.js'
import { until } from '../gates/until.js'
import { QUICK } from '../jobs/job-policy.js'
import { named } from '../jobs/jobs-fixture.js'
import { ask, jsonIn, post, testGate } from './gate-fixture.js'

const ENV = { BEST_EFFORT_CHECK_INTERVAL_SECONDS: '1', RETRY_BUDGET_MAX: '40' }

/** `address`: as the role. Rejects where something is not allowed. */
export async function wholeFlow(address: string | Ledger): Promise<void> {
  const faults: string[] = []
  const jobs = await openJobsWith(address, { env: ENV, retention: '1h', lease: '5s' }, { policy: QUICK, role: 'gate' })
  try {
    const gate = await testGate(jobs, { allowChanges: true, onFault: (text) => faults.push(text) })
    try {
      const some: JobHandler = async ({ fails = 0, hangs = false }, { attempt, signal }) => {
        if (hangs === true) await new Promise((_resolve, reject) => signal.addEventListener('abort', reject))
        if (attempt <= Number(fails)) throw new Error('no')
        return { attempts: attempt }
      }
      for (const datacenter of ['eu', 'us']) await jobs.work({ datacenter, slots: 4, handlers: { some }, lease: '5s' })
      const change = async (target: string, body: object = {}): Promise<Record<string, unknown>> => {
        const answer = await post(gate, target, body)
        if (answer.status !== 200) throw new Error(`${target}: ${answer.text} ${faults.join('; ')}`)
        return jsonIn(answer)
      }
      const ended = async (id: string): Promise<Record<string, unknown>> => {
        const answer = await ask(gate, `/api/v1/jobs/${id}/result?wait_seconds=10`)
        if (answer.status !== 200) throw new Error(`${id}: ${answer.text} ${faults.join('; ')}`)
        return jsonIn(answer)
      }
      await change('/api/v1/settings')
      const both = { datacenters: ['eu', 'us'] }
      // Denied by its budget: dead letters, checkpoints and skipped ones.
      const workflows = [
        ...named(3, (index) => ({ fails: index * 9 })),
        { name: 'last', handler: 'some', needs: ['w2'] },
      ]
      await change('/api/v1/jobs', { job_id: 'fails', ...both, workflows, idempotency_key: 'k', best_effort: true })
      await ended('fails')
      await change('/api/v1/jobs/fails/retry', { only_failed: true })
      await ended('fails')
      const hanging = named(2, (index) => ({ hangs: index === 0 }))
      await change('/api/v1/jobs', { job_id: 'hangs', ...both, workflows: hanging, stragglers: 'cancel' })
      await until(
        async () => (await jobs.status('hangs')).datacenters.some(({ state }) => state === 'running'),
        'a start',
      )
      await change('/api/v1/jobs/hangs/cancel')
      await ended('hangs')
      await change('/api/v1/datacenters/us/disable', { reason: 'r' })
      await change('/api/v1/datacenters/us/enable')
      for (const target of ['/metrics', '/api/v1/datacenters', '/api/v1/jobs', '/api/v1/jobs/fails', '/readyz'])
        if ((await ask(gate, target)).status !== 200) throw new Error(`${target}: ${faults.join('; ')}`)
      if ((await jobs.events(0)).events.length === 0) throw new Error('there are no events')
    } finally {
      await gate.close()
    }
    const ledger = jobs['parts'].ledger
    const isTallied = async (): Promise<boolean> => (await jobs.status('fails')).reported === 2
    await until(isTallied, 'the reports')
    await removeJobs(ledger, Infinity)
    if ((await jobs.list()).length > 0) throw new Error('jobs were not removed')
    await jobs.removeOld()
  } finally {
    await jobs.close()
  }
  if (faults.length > 0) throw new Error(faults.join('; '))
}
