/** Shows the result of a job: data with `--json`, else a page. Imports output. */
import type { JobResult } from '@reprise/jobs'
import type { CommandContext } from '../../command-context.js'
import { writePage } from '../../output/github-commands.js'
import { resultPage } from '../../output/jobs/job-page.js'
import { writeJson } from '../../output/json.js'
import { lookFor } from '../../output/look.js'

export function tellResult(result: JobResult, { world, settings }: CommandContext): void {
  if (settings.json) return writeJson(world.stdout, result)
  if (settings.ndjson) return
  writePage(world, `${resultPage(result, lookFor(world, settings)).join('\n')}\n`)
}
