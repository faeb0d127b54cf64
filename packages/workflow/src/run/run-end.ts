/** How a recorded run ended, without conducting it. Pure. Imports the shapes. */
import type { RunRecord } from 'reprise/durable'
import { notesOf } from '../view/run-notes.js'
import type { RunEnd } from './conductor.js'

/** Undefined if it has not ended, was interrupted, or is being removed. */
export function endOfRun(run: RunRecord): RunEnd | undefined {
  const { status } = run
  if (status === 'running' || status === 'interrupted' || status === 'removing') return undefined
  const { stopReason, failedStep, outputs, outputsError } = notesOf(run)
  const given = { ...(outputs && { outputs }), ...(outputsError !== undefined && { outputsError }) }
  return { state: status, stopReason, failedStep, undecided: [], ...given }
}
