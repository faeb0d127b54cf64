/** Reads runs of a ledger: their plans from what is recorded, their logs from the state directory. Imports Node and state. */
import { existsSync } from 'node:fs'
import type { Ledger, RunRecord } from 'reprise/durable'
import type { Plan } from '../plan/plan.js'
import { lastLineIn } from '../state/last-line.js'
import { viewMap } from '../run/map/map-view.js'
import { recordedPlan } from '../run/recorded-plan.js'
import type { RunReader } from '../view/read-runs.js'
import { StateDirectory } from '../state/state-directory.js'
import { stateDirectoryOf } from './store.js'

const FIRST = { generation: 1, attempt: 1, execution: 1 }

/** `plan`: what the run has, where that is known already. */
export function runReader(ledger: Ledger, store: string, plan?: Plan): RunReader {
  const state = StateDirectory.at(stateDirectoryOf(store))
  return {
    ledger,
    planOf: plan === undefined ? recordedPlans(ledger) : async () => plan,
    lastLineIn,
    viewMap: async (run, map, look) => {
      const row = await viewMap(ledger, run, map, look)
      if (row.failure === null) return row
      // The command of its input has written it.
      const log = state.logFile({ run, step: map.id }, FIRST)
      return { ...row, log: existsSync(log) ? log : null }
    },
    logsOf: (run) => {
      // Most steps of a long run write nothing and have no directory: one listing saves a look for each of them.
      const logged = new Set(state.stepsOf(run))
      return (step, attempt) => {
        if (!logged.has(step)) return null
        const file = state.logFile({ run, step }, attempt)
        return existsSync(file) ? file : null
      }
    },
  }
}

/** Reads the plans of runs. The last one is kept: of a document of 100 000 steps it takes half a second to make. */
function recordedPlans(ledger: Ledger): RunReader['planOf'] {
  let last: { readonly run: RunRecord; readonly plan: Plan } | undefined
  return async (run) => {
    // A run that was removed may have a successor of its id; a change of the document that was accepted has another
    // fingerprint.
    const keys = ['id', 'correlationId', 'fingerprint'] as const
    if (last !== undefined && keys.every((key) => last?.run[key] === run[key])) return last.plan
    const plan = recordedPlan(run, (await ledger.definition(run.id)) ?? null)
    last = { run, plan }
    return plan
  }
}
