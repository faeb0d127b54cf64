/**
 * An agent of a run: what is asked before it serves anything, and again whenever a process begins to conduct the run.
 * Imports the library, recorded plans and the agent.
 */
import { existsSync } from 'node:fs'
import type { Ledger, RunRecord } from 'reprise/durable'
import type { OtherOwner } from 'reprise/internal'
import { mapsOf, type Plan } from '../plan/plan.js'
import { type AgentEnd, type AgentSettings, serveRun } from '../run/agent/agent.js'
import { agentEnvironment, relocated } from '../run/agent/agent-hands.js'
import { readPlan } from '../run/recorded-plan.js'
import { repriseVersion, UNKNOWN_VERSION } from '../state/reprise-version.js'
import { notesOf } from '../view/run-notes.js'
import { findRun } from './find-run.js'
import { expectNoSecrets, expectSecrets } from './load-plan.js'
import { OperationError } from './operation-error.js'

/** A run that an agent can serve from here. */
export interface ServableRun {
  readonly record: RunRecord
  readonly plan: Plan
}

type AgentInput = Omit<AgentSettings, 'expectFit' | 'expectVersion'>

/** The run, if its items can be executed with this environment, in this directory. */
export async function prepareAgent(
  ledger: Ledger,
  named: string,
  settings: Pick<AgentInput, 'env' | 'cwd'>,
): Promise<ServableRun> {
  const record = await findRun(ledger, named)
  const plan = await readPlan(ledger, record)
  expectFit(plan, record, settings)
  return { record, plan }
}

export function serveAsAgent({ record, plan }: ServableRun, settings: AgentInput): Promise<AgentEnd> {
  return serveRun(record, plan, {
    ...settings,
    expectFit: (now, run) => expectFit(now, run, settings),
    expectVersion,
  })
}

function expectFit(plan: Plan, run: RunRecord, { env, cwd }: Pick<AgentInput, 'env' | 'cwd'>): void {
  if (mapsOf(plan).length === 0) {
    const message = `Run ${run.id} has no map: there are no items that an agent could run.`
    throw new OperationError('not_possible', { code: 'map_not_open', run: run.id }, message)
  }
  const notes = relocated(notesOf(run), cwd)
  if (!existsSync(notes.cwd)) {
    const where = cwd === undefined ? 'The directory of the run' : 'The directory'
    const message = `${where}, ${notes.cwd}, is not there`
    const cure = 'name the directory in which commands run here'
    throw new OperationError('invalid', { code: 'missing_directory', directory: notes.cwd }, message, cure)
  }
  const variables = agentEnvironment(plan, run, env, cwd)
  expectSecrets(plan, variables)
  expectNoSecrets(plan, variables)
}

/** Items mean the same only where the same program reads the document. */
function expectVersion(run: string, version: string, { pid, host }: OtherOwner): void {
  const own = repriseVersion()
  if (version === own && own !== UNKNOWN_VERSION) return
  const other = version === '' ? 'an earlier version of reprise, which serves no agents' : nameOf(version)
  const message = `Run ${run} is being executed by ${other} (process ${pid} on ${host}), and this is ${nameOf(own)}. An agent must have the same version.`
  throw new OperationError('not_possible', { code: 'other_version', run }, message)
}

function nameOf(version: string): string {
  if (version === UNKNOWN_VERSION) return 'a program whose version of reprise cannot be found'
  return version.startsWith('code-') ? `a program with a copy of reprise (${version})` : `reprise ${version}`
}
