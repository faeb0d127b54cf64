/**
 * How much is shown of what steps write while a run goes on. Light: the table of commands has it. Imports types only.
 */
import type { Settings } from './settings.js'
import type { ProcessIo } from './process-io.js'

/**
 * `grouped`: the whole output of an attempt when it has ended. `stream`: each line as it comes, with the step's name.
 * `failed`: the last lines of attempts that have failed.
 */
export const OUTPUT_MODES = ['grouped', 'stream', 'failed', 'none'] as const
export type OutputMode = (typeof OUTPUT_MODES)[number]

/** What a flag says, else what suits whoever reads it. */
export function outputModeOf(
  given: OutputMode | undefined,
  { ndjson, quiet, verbose }: Pick<Settings, 'ndjson' | 'quiet' | 'verbose'>,
  env: ProcessIo['env'],
): OutputMode {
  if (given !== undefined) return given
  if (ndjson) return 'none'
  if (quiet) return 'failed'
  if (env['CI']) return 'grouped'
  return verbose ? 'stream' : 'failed'
}
