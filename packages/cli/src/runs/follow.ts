/** Tells what there is, and with `-f` what comes, until the run has ended. Imports the library and signals. */
import { isConducted } from '@reprise/workflow/internal'
import type { Ledger } from 'reprise/durable'
import { untilSignal } from './until-signal.js'

const LOOK_EVERY_MS = 250

export async function follow(
  ledger: Ledger,
  runId: string,
  isFollowing: boolean,
  tell: () => Promise<void>,
): Promise<void> {
  const stop = untilSignal()
  try {
    for (;;) {
      // Before what there is is told: what comes between is told as well.
      const isOver = !isFollowing || !(await isGoingOn(ledger, runId))
      await tell()
      if (isOver || stop.isStopped()) return
      await stop.wait(LOOK_EVERY_MS)
    }
  } finally {
    stop.end()
  }
}

async function isGoingOn(ledger: Ledger, runId: string): Promise<boolean> {
  const run = await ledger.run(runId)
  return run?.status === 'running' && (await isConducted(ledger, run))
}
