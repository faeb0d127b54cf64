/**
 * A run of a workflow that has a step of every kind that matters to retries, killed at random moments. Imports the kill run
 * and the history checker.
 */
import type { Ledger } from '../../packages/reprise/src/ledger/ledger.js'
import { scopeOfRun } from '../../packages/reprise/src/ledger/records.js'
import { faultsOf } from '../crash/history.js'
import { NOTE_START, RandomKillRun, RUN } from './random-kill-run.js'

const ATTEMPTS = 4
const TOTAL = 2

/** Succeeds from the given attempt on; 99: never. */
const shell = (good: number, rest = 'true'): string =>
  `${NOTE_START}; sleep 0.03; test "$REPRISE_ATTEMPT" -ge ${good}; ${rest}`

const STEPS = [
  { id: 'first', shell: shell(1, `echo '{"n": 41}'`), capture: 'data', capture_format: 'json' },
  { id: 'flaky', shell: shell(3, 'echo "${data.n}" >> seen'), capture: 'text' },
  { id: 'hopeless', shell: shell(99), retry: { on_failure: 'continue' } },
  { id: 'replaced', shell: shell(99), retry: { on_failure: { fallback: { command: shell(1) } } } },
  { id: 'broken', shell: shell(99), retry: { breaker: 'db', on_failure: 'continue' } },
  { id: 'refused', shell: shell(1), retry: { breaker: 'db', on_failure: 'continue' } },
  { id: 'limited', shell: shell(99), retry: { budget: 'few', on_failure: 'continue' } },
  { id: 'skipped', shell: shell(1), when: 'data.n > 99' },
  { id: 'last', shell: shell(2, 'echo "${data.n}" >> seen'), when: 'data.n == 41' },
]

const WORKFLOW = {
  retry_defaults: { attempts: ATTEMPTS, backoff: 'exponential', initial_delay: '20ms', jitter: 'full' },
  breakers: { db: { failure_threshold: 3, recovery_timeout: '1h' } },
  budgets: { few: { type: 'count', total: TOTAL } },
  steps: STEPS,
}

/** What the run comes to, killed or not: state, attempts, stop reason. */
const OUTCOME = [
  ['first', 'succeeded', 1, null],
  ['flaky', 'recovered', 3, null],
  ['hopeless', 'failed', 4, 'attempts_exhausted'],
  ['replaced', 'failed', 4, 'attempts_exhausted'],
  ['replaced.fallback', 'succeeded', 1, null],
  ['broken', 'failed', 3, 'breaker_open'],
  ['refused', 'failed', 0, 'breaker_open'],
  ['limited', 'failed', 1 + TOTAL, 'budget_denied'],
  ['skipped', 'skipped', 0, null],
  ['last', 'recovered', 2, null],
]

/** A skipped step is recorded as done without an attempt; a fallback has one attempt, however many the others have. */
const NO_FAULTS = ['skipped: succeeded without one success at the end', 'replaced.fallback: exhausted too early']

export class KilledSteps extends RandomKillRun {
  constructor(seed: number) {
    super(seed, { workflow: WORKFLOW, mostStarts: 5, orderlyShare: 0.3, exitCodes: [3, 1] })
  }

  protected async faultsOf(ledger: Ledger, finished: boolean): Promise<string[]> {
    const scope = scopeOfRun(RUN)
    const starts = this.startsOf(await ledger.list({ ...scope }), await ledger.attemptsOfRun(RUN))
    const found = await faultsOf(ledger, scope, starts, { attempts: ATTEMPTS, finished })
    return [...found.filter((fault) => !NO_FAULTS.includes(fault)), ...(await budgetFaults(ledger))]
  }

  /** The same as of a run that nobody killed, except where an attempt was interrupted so often that it counts as failed. */
  protected async faultsAtEnd(): Promise<string[]> {
    const faults: string[] = []
    const seen = new Set(this.cli.read('seen').split('\n').filter(Boolean))
    if (seen.size !== 1 || !seen.has('41')) faults.push(`captures were seen as ${[...seen].join()}`)
    const { state, steps } = await this.cli.show(RUN)
    const isCharged = steps.some(({ history }) =>
      history.some(({ outcome, failure }) => outcome === 'interrupted' && failure !== null),
    )
    if (isCharged) return faults
    const outcome = steps.map(({ id, state: is, attempts, stopReason }) => [id, is, attempts, stopReason])
    if (JSON.stringify(outcome) !== JSON.stringify(OUTCOME)) faults.push(`came to ${JSON.stringify(outcome)}`)
    if (state !== 'completed_with_failures') faults.push(`is ${state}`)
    return faults
  }
}

/** I4: the retries that were made are charged, and there are no more of them than the budget has. */
async function budgetFaults(ledger: Ledger): Promise<string[]> {
  const task = await ledger.get({ ...scopeOfRun(RUN), id: 'limited' })
  if (task === undefined) return []
  const retries = Math.max(0, task.progress.retry.launched - 1)
  const gate = (await ledger.gates()).find(({ key }) => key === `budget:few@${RUN}`)
  const { used = 0 } = (gate?.state ?? {}) as { readonly used?: number }
  return used === retries && used <= TOTAL
    ? []
    : [`limited: made ${retries} retries, and ${used} of ${TOTAL} are charged`]
}
