/** The notes of a run as its conductor reads and changes them. Imports the record and the conductor's parts. */
import type { ConductorParts, RunEnd } from './conductor.js'
import type { RunEnding, RunNotes } from './run-record.js'

/** What of the notes the conductor goes by, and what it records there. */
export function changesOf(
  notes: RunNotes,
  note: (notes: RunNotes) => Promise<void>,
): Pick<ConductorParts, 'repeat' | 'ending' | 'onEnding'> {
  let now = notes
  const change = (changed: RunNotes): Promise<void> => note((now = changed))
  const onGranted = (): Promise<void> => {
    const { repeatAfter: _repeatAfter, ...rest } = now
    return change(rest)
  }
  return {
    ...(notes.repeatAfter !== undefined && { repeat: { after: notes.repeatAfter, onGranted } }),
    ending: notes.ending,
    onEnding: async ({ undecided: _undecided, left: _left, ...ending }) => {
      if (now.ending === undefined) await change({ ...now, ending })
    },
  }
}

/** The notes of a run as its process leaves it: how it ended, its outputs, and its times. */
export function notesAtEnd(notes: RunNotes, end: RunEnd, times: NonNullable<RunNotes['times']>): RunNotes {
  const { outputs: _outputs, outputsError: _error, ...kept } = notes
  const { state, stopReason, failedStep, outputs, outputsError } = end
  return {
    ...kept,
    stopReason,
    failedStep,
    ...(outputs !== undefined && { outputs }),
    ...(outputsError !== undefined && { outputsError }),
    ...(kept.ending && state !== 'interrupted' && { ending: endingOnly(kept.ending) }),
    times,
  }
}

/** Outputs of a run that has ended are kept with the run. */
function endingOnly({ state, stopReason, failedStep }: RunEnding): RunEnding {
  return { state, stopReason, failedStep }
}
