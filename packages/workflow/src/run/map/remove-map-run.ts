/** Forgets a map: its items, what was done for those that failed, its gates. Imports the ledger's types and names of maps. */
import type { Ledger } from 'reprise/durable'
import { errorScope, mapGates } from './map-names.js'

/** Others write between two of them. */
export const TASKS_AT_ONCE = 500

/** Removed piece by piece, the run of the map last: while it is there, another try finds what is left. */
export async function removeMapRun(ledger: Ledger, mapRun: string): Promise<void> {
  while (!(await ledger.removeRun(errorScope(mapRun), TASKS_AT_ONCE)).isDone);
  while (!(await ledger.removeRun(mapRun, TASKS_AT_ONCE, mapGates(mapRun))).isDone);
}
