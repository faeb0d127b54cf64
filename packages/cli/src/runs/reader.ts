/** What looks at runs in a ledger: their plans from what is recorded, their logs from the state directory. */
import { existsSync } from 'node:fs'
import type { RunReader } from '@reprise/workflow'
import { StateDirectory } from '@reprise/workflow'
import type { Ledger } from 'reprise/durable'
import type { CommandContext } from '../command-context.js'
import { recordedPlan } from './load-plan.js'
import { stateDirectoryOf } from './store.js'

export function readerOf(ledger: Ledger, { settings }: CommandContext): RunReader {
  const state = StateDirectory.at(stateDirectoryOf(settings.store))
  return {
    ledger,
    planOf: recordedPlan,
    logOf: (run, step, { generation, number, execution }) => {
      const file = state.logFile(run, step, { generation, attempt: number, execution })
      return existsSync(file) ? file : null
    },
  }
}
