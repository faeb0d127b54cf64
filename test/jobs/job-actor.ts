/**
 * Plays a job out, and ends itself at a place: `job-actor.ts ADDRESS PLOT PLACE MOMENT [LEASE [SIGNAL]]`. Exits with 0 if it
 * never came there. Imports sources.
 */
import { openLedger } from 'reprise/durable'
import { openJobsWith } from '../../packages/jobs/src/jobs.js'
import { type PlotName, playOut } from './job-plots.js'
import { QUICK } from './job-policy.js'
import { killedAt, type KillMoment, type KillPlace } from './kill-places.js'

const [address = '', plot, place, moment, lease = '1s', signal] = process.argv.slice(2)
const how = [place as KillPlace, moment as KillMoment, signal as 'SIGKILL' | 'SIGSTOP' | undefined] as const
const ledger = killedAt(await openLedger(address), ...how)
const jobs = await openJobsWith(ledger, { env: { BEST_EFFORT_CHECK_INTERVAL_SECONDS: '1' }, lease }, { policy: QUICK })
await playOut(jobs, plot as PlotName, ledger)
await jobs.close()
