/** Shows the result of a job: data with `--json`, else a page. Imports output. */
import type { JobResult } from '@reprise/jobs'
import type { CommandContext } from '../../command-context.js'
import { writePage } from '../../output/github-commands.js'
import { resultPage } from '../../output/jobs/job-page.js'
import { writeJson } from '../../output/json.js'
import { displayFor } from '../../output/display.js'

export function tellResult(result: JobResult, { io, settings }: CommandContext): void {
  if (settings.json) return writeJson(io.stdout, result)
  if (settings.ndjson) return
  writePage(io, `${resultPage(result, displayFor(io, settings)).join('\n')}\n`)
}
