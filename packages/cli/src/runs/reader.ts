/** What looks at runs in a ledger: their plans from what is recorded, their logs from the state directory. */
import { existsSync } from 'node:fs'
import type { Plan } from '@reprise/workflow'
import { lastLineIn, recordedPlan, type RunReader, StateDirectory } from '@reprise/workflow/internal'
import type { Ledger } from 'reprise/durable'
import type { CommandContext } from '../command-context.js'
import { stateDirectoryOf } from './store.js'

/** `plan`: what the run has, where that is known already. */
export function readerOf(ledger: Ledger, { settings }: CommandContext, plan?: Plan): RunReader {
  const state = StateDirectory.at(stateDirectoryOf(settings.store))
  return {
    ledger,
    planOf: async (run) => plan ?? recordedPlan(run, (await ledger.definition(run.id)) ?? null),
    lastLineIn,
    logsOf: (run) => {
      // Most steps of a long run say nothing: they have no directory, and need not be looked for one by one.
      const talkative = new Set(state.stepsOf(run))
      return (step, attempt) => {
        if (!talkative.has(step)) return null
        const file = state.logFile({ run, step }, attempt)
        return existsSync(file) ? file : null
      }
    },
  }
}
