/**
 * What the input of a map is read from beside files: the output of a command, and standard input. Both are kept in a file
 * of the map first, so that items are read from something that does not change, and an enumeration that was killed can
 * read standard input again. Imports Node, the inputs, processes and its own layer.
 *
 * Invariant: secrets are not masked in these files, so none is left once the items are recorded.
 */
import { createReadStream, existsSync, renameSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import path from 'node:path'
import { InputDataError } from '../../items/input-data-error.js'
import type { InputSources } from '../../items/open-entries.js'
import type { MapPlan } from '../../plan/map-plan.js'
import type { RunAction, ShellAction, StepPlan } from '../../plan/plan.js'
import { CommandError } from '../../process/command-error.js'
import type { StateDirectory } from '../../state/state-directory.js'
import { stateErrorOf } from '../../state/state-error.js'
import type { Performer } from '../performer.js'
import type { Scope } from '../scope.js'
import type { MapSettings } from './map-settings.js'
import { untilAborted } from './until-aborted.js'

export interface SourceParts {
  readonly runId: string
  readonly correlationId: string
  readonly state: StateDirectory
  readonly performer: Performer
  readonly scope: Scope
  readonly documentDir: string
  readonly signal: AbortSignal
  readonly stdin: MapSettings['stdin'] | undefined
}

/** What the command wrote is in the file of the input; its log is for people. */
const MAX_LOG_BYTES = 1024 * 1024

type Bytes = AsyncIterable<Uint8Array>

const COMMAND_FILE = 'input'
const STDIN_FILE = 'stdin'

/** Removes what was kept of the input: its items are recorded. */
export function removeInput(state: StateDirectory, runId: string, mapId: string): void {
  for (const name of [COMMAND_FILE, STDIN_FILE]) {
    const file = path.join(state.mapDirectory(runId, mapId), name)
    try {
      rmSync(file, { force: true })
    } catch (error) {
      throw stateErrorOf(file, error)
    }
  }
}

export function inputSources(parts: SourceParts, map: MapPlan): InputSources {
  const { runId, state, documentDir, scope } = parts
  const fileOf = (name: string): string => path.join(state.mapDirectory(runId, map.id), name)
  return {
    documentDir,
    values: scope.values,
    openCommand: async (action) => readBack(await runInput(parts, map, action, fileOf(COMMAND_FILE))),
    openStdin: () => readStdin(parts, fileOf(STDIN_FILE)),
  }
}

/** Runs the command once, with its standard output in the file; a failure is thrown. */
async function runInput(
  { performer, scope, signal, correlationId }: SourceParts,
  { id, name }: MapPlan,
  action: ShellAction | RunAction,
  file: string,
): Promise<string> {
  const step: StepPlan = {
    kind: 'step',
    // Of the map itself, which has no attempts of its own: `map.input` may be the id of another step.
    id,
    name: `${name}: input`,
    action,
    policy: { attempts: 1 },
    onFailure: 'stop',
    onInterrupt: 'rerun',
    when: null,
    until: null,
    capture: null,
    env: {},
    workingDir: null,
    maxLogBytes: MAX_LOG_BYTES,
  }
  // Its own in every run, and the same if the command has to run again.
  const idempotencyKey = `${correlationId}/${id}`
  const context = { attempt: 1, execution: 1, generation: 1, taskId: step.id, idempotencyKey, signal }
  await written(file, async (write) => {
    const outcome = performer.perform(step, action, context, {
      scope,
      onBytes: (stream, bytes) => (stream === 'stdout' ? write(bytes) : undefined),
    })
    await outcome.catch((error: unknown) => {
      // An exit code alone does not say that no item was processed yet.
      if (error instanceof CommandError) error.message = `the command of \`input\`: ${error.message}`
      throw error
    })
  })
  return file
}

async function* readStdin({ stdin, signal }: Pick<SourceParts, 'stdin' | 'signal'>, file: string): Bytes {
  if (!existsSync(file)) {
    if (stdin === undefined) {
      const problem = 'standard input was not read to its end before the run was stopped'
      throw new InputDataError('<stdin>', problem, 'start a new run with `reprise run`')
    }
    const partial = `${file}.partial`
    await written(partial, async (write) => {
      for await (const bytes of untilAborted(stdin(), signal)) await write(bytes)
    })
    try {
      renameSync(partial, file)
    } catch (error) {
      throw stateErrorOf(file, error)
    }
  }
  yield* readBack(file)
}

function readBack(file: string): Bytes {
  return createReadStream(file, { highWaterMark: 128 * 1024 })
}

/** Writes a file from its beginning. */
async function written(
  file: string,
  fill: (write: (bytes: Uint8Array) => Promise<void>) => Promise<void>,
): Promise<void> {
  const handle = await open(file, 'w', 0o600).catch((error: unknown) => {
    throw stateErrorOf(file, error)
  })
  try {
    await fill(async (bytes) => {
      try {
        await handle.writeFile(bytes)
      } catch (error) {
        throw stateErrorOf(file, error)
      }
    })
  } finally {
    await handle.close()
  }
}
