/**
 * A gate as a process: `gate-program.ts ADDRESS LEASE [PLACE MOMENT]`, until it is killed; with a place it ends itself there.
 * Says its URL. No token, since only this machine reaches it. Imports sources.
 */
import { openLedger } from 'reprise/durable'
import { openGate } from '@reprise/dashboard'
import { openJobsWith } from '../../packages/jobs/src/jobs.js'
import { QUICK } from '../jobs/job-policy.js'
import { killedAt, type KillMoment, type KillPlace } from '../jobs/kill-places.js'

const [address = '', lease = '2s', place, moment] = process.argv.slice(2)
const opened = await openLedger(address)
const ledger = place === undefined ? opened : killedAt(opened, place as KillPlace, moment as KillMoment)
// A deadline is at least as long as the interval.
const env = { BEST_EFFORT_CHECK_INTERVAL_SECONDS: '1' }
const jobs = await openJobsWith(ledger, { env, lease }, { policy: QUICK, role: 'gate' })
const gate = await openGate(jobs, { port: 0, tokens: false, onFault: (text) => console.error(`fault: ${text}`) })
process.stdout.write(`${gate.url}\n`)
