/**
 * Jobs on a real PostgreSQL server whose workers and submitters are killed, cut off, slowed down and brought back, round
 * after round, until there were so many kills and partitions. After each round everything runs again; every job must
 * complete, every datacenter report, and J1 to J5 hold. Imports the fleet, the faults and the checks.
 */
import { mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { openLedger, type Ledger } from 'reprise/durable'
import { jobOf } from '../../packages/jobs/src/record/job-record.js'
import { datacenterRun } from '../../packages/jobs/src/record/names.js'
import { allAttempts, allTasks } from '../../packages/jobs/src/view/read-tasks.js'
import { seededRandom } from '../../packages/reprise/src/core/seeded-random.js'
import { FAULTS, type Fault, makeFault, PARTITIONS, pick } from './campaign-faults.js'
import { Fleet, type FleetCounts, type Programs, SITES } from './campaign-fleet.js'
import { faultsOfJob, ResultWatch } from './job-history.js'

export interface CampaignTally extends FleetCounts {
  rounds: number
  jobs: number
  workflows: number
  attempts: number
  /** Jobs that completed with success; the budget of others was used up by the kills. */
  successes: number
  lateReports: number
  partitions: number
  /** Workflows without an end, jobs without a completion, or jobs that are not there. */
  lost: number
  /** Workflows with two successes, and jobs with two completions. */
  doubled: number
  readonly made: Map<string, number>
  readonly faults: string[]
}

export interface CampaignOptions {
  readonly programs: Programs
  /** Of a database. */
  readonly url: string
  readonly directory: string
  readonly seed: number
  readonly kills: number
  readonly partitions: number
  readonly onRound?: (tally: CampaignTally) => void
}

const SUBMITTERS = 2
const JOBS_EACH = 4
const FAULTS_A_ROUND = 20
/** Rounds wait more than they work. */
const LANES = 2
/** A machine that others use may need as long to start a process as to run a job. */
const SETTLE_MS = 600_000

function newCampaignTally(): CampaignTally {
  const counts = { started: 0, killed: 0, gaveUp: 0, refusals: [], notes: new Map<string, number>() }
  const seen = { rounds: 0, jobs: 0, workflows: 0, attempts: 0, successes: 0, lateReports: 0, partitions: 0 }
  return { ...counts, ...seen, lost: 0, doubled: 0, made: new Map(), faults: [] }
}

export async function runJobCampaign(options: CampaignOptions): Promise<CampaignTally> {
  const tally = newCampaignTally()
  let next = 0
  const lane = async (): Promise<void> => {
    while (tally.killed < options.kills || tally.partitions < options.partitions) {
      const round = next++
      await playRound(round, tally, seededRandom(options.seed + round), options)
      tally.rounds++
      options.onRound?.(tally)
    }
  }
  const isSmall = options.kills + options.partitions < FAULTS_A_ROUND
  await Promise.all(Array.from({ length: isSmall ? 1 : LANES }, lane))
  return tally
}

async function playRound(
  round: number,
  tally: CampaignTally,
  random: () => number,
  { programs, url, directory, kills, partitions }: CampaignOptions,
): Promise<void> {
  const address = `${url}?schema=round_${round}&connections=3`
  const place = path.join(directory, `round-${round}`)
  mkdirSync(place, { recursive: true })
  const ledger = await openLedger(address)
  const requests = Array.from({ length: SUBMITTERS }, (_, submitter) =>
    Array.from({ length: JOBS_EACH }, (_job, index) => requestFor(`j${submitter}-${index}`, random)),
  )
  const ids = requests.flat().map(({ job_id }) => job_id)
  const fleet = await Fleet.launch({ programs, directory: place, address, counts: tally }, requests)
  const watch = new ResultWatch(ledger)
  const isWanting = (): boolean => tally.partitions < partitions || tally.killed < kills
  const isOver = (): boolean => fleet.submitters.every(({ isDone }) => isDone)
  try {
    const note = (what: string): void => void tally.made.set(what, (tally.made.get(what) ?? 0) + 1)
    for (let made = 0; made < FAULTS_A_ROUND && !isOver() && isWanting(); made++) {
      const wanted = FAULTS.filter((fault) =>
        PARTITIONS.has(fault) ? tally.partitions < partitions : tally.killed < kills,
      )
      const all: readonly Fault[] = wanted.length === 0 ? FAULTS : wanted
      const fault = pick(all, random)
      if ((await makeFault(fault, { fleet, random, note })) && PARTITIONS.has(fault)) tally.partitions++
      for (const id of ids) await watch.look(id)
    }
    fleet.startAll()
    const waiting = await untilSettled(ledger, ids, watch, isOver)
    tally.lost += waiting.length
    tally.faults.push(...waiting.map((fault) => `round ${round}: ${fault}`))
    for (const id of ids) await checkJob(ledger, id, `round ${round}`, tally)
    tally.faults.push(...tally.refusals.splice(0).map((line) => `round ${round}: a worker was ${line}`))
    tally.faults.push(...watch.faults.map((fault) => `round ${round}: ${fault}`))
  } finally {
    await fleet.end()
    await ledger.close()
  }
  if (!tally.faults.some((fault) => fault.startsWith(`round ${round}:`))) rmSync(place, { recursive: true })
}

/** A mix: documents and functions, some that fail once or always, and all ways to complete. */
function requestFor(id: string, random: () => number): Readonly<Record<string, unknown>> & { readonly job_id: string } {
  const ms = (): number => Math.floor(50 + random() * 500)
  const document = {
    steps: [
      { shell: `sleep ${(ms() / 1000).toFixed(2)}` },
      { shell: `sleep ${(ms() / 1000).toFixed(2)}; echo 1`, capture: 'n' },
    ],
    outputs: { n: '${n}' },
  }
  const bestEffort =
    random() < 0.5
      ? { best_effort: { min_dcs: 1 + Math.floor(random() * 3), deadline: `${2 + Math.floor(random() * 6)}s` } }
      : {}
  return {
    job_id: id,
    datacenters: SITES,
    workflows: [
      { name: 'steps', document },
      { name: 'after', document, needs: ['call'] },
      { name: 'call', handler: 'some', params: { ms: ms(), fails: random() < 0.4 ? 1 : 0 } },
      { name: 'never', handler: 'some', params: { ms: 20, fails: random() < 0.2 ? 999 : 0 } },
    ],
    retry_budget: random() < 0.3 ? 4 : 40,
    retry_budget_per_workflow: 5,
    retry_budget_counts: random() < 0.3 ? 'wasted' : 'all',
    late_result_policy: random() < 0.5 ? 'log_only' : 'update_result',
    stragglers: random() < 0.3 ? 'cancel' : 'run',
    aggregate: { n: 'sum' },
    ...bestEffort,
  }
}

/** Every job has completed and every datacenter has reported; else what is missing, in sentences. */
async function untilSettled(
  ledger: Ledger,
  ids: readonly string[],
  watch: ResultWatch,
  areSubmitted: () => boolean,
): Promise<string[]> {
  const endMs = performance.now() + SETTLE_MS
  for (;;) {
    const missing: string[] = []
    for (const id of ids) {
      const run = await ledger.run(id)
      if (run === undefined) {
        missing.push(`${id} was not submitted`)
        continue
      }
      const { completion, targets, slots } = jobOf(run).detail
      if (completion === null) missing.push(`${id} has not completed`)
      const silent = targets.filter((name) => slots[name] === undefined)
      if (silent.length > 0) missing.push(`${id} has no report of ${silent.join(', ')}`)
      await watch.look(id)
    }
    if ((missing.length === 0 && areSubmitted()) || performance.now() > endMs) return missing
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

async function checkJob(ledger: Ledger, id: string, where: string, tally: CampaignTally): Promise<void> {
  const run = await ledger.run(id)
  if (run === undefined) return
  const { completion, targets, slots } = jobOf(run).detail
  tally.jobs++
  if (completion?.success === true) tally.successes++
  tally.lateReports += Object.values(slots).filter(({ isLate }) => isLate).length
  for (const name of targets) {
    const scope = datacenterRun(id, name)
    const [tasks, attempts] = [await allTasks(ledger, scope), await allAttempts(ledger, scope)]
    tally.workflows += tasks.length
    tally.attempts += attempts.length
    for (const task of tasks) {
      const wins = attempts.filter((row) => row.id === task.id && row.outcome === 'success').length
      if (wins > 1) tally.doubled++
      if (wins > 1 || (task.status === 'succeeded' && wins !== 1))
        tally.faults.push(`${where}: ${scope}/${task.id} has ${wins} successes, and is ${task.status}`)
    }
  }
  const faults = await faultsOfJob(ledger, id)
  tally.doubled += faults.filter((fault) => fault.includes('J2')).length
  tally.faults.push(...faults.map((fault) => `${where}: ${fault}`))
}
