/** `reprise store status`: a store as it is, also where it cannot be used. Imports the workflow package and output. */
import { type StoreHint, storeReport, type StoreStatus } from '@reprise/workflow/internal'
import type { CommandModule } from '../command.js'
import { writeJson } from '../output/json.js'
import { displayFor } from '../output/display.js'
import { type CommandWords, commandWords } from '../output/next-commands.js'
import { storeStatusPage } from '../output/store-status.js'
import { writePage } from '../output/github-commands.js'

export const showStatus: CommandModule = {
  async run(_given, context) {
    const { io, settings } = context
    const { status, hints, nowMs } = await storeReport(settings.store)
    const command = commandWords(settings, io.env)
    const shown = { ...status, hints: hints.map((hint) => hintWords(hint, status, command)) }
    if (settings.json) return writeJson(io.stdout, shown)
    const lines = storeStatusPage(shown, nowMs, displayFor(io, settings))
    writePage(io, `${lines.join('\n')}\n`)
  },
}

function hintWords(hint: StoreHint, { schema }: StoreStatus, command: CommandWords): string {
  switch (hint.code) {
    case 'older_schema':
      return `schema ${schema.version} of ${schema.newest}: run ${command(['store', 'migrate'])}; the next run does it too, if its user may`
    case 'newer_schema':
      return `schema ${schema.version}, and this program knows ${schema.newest}: update it`
    case 'replica':
      return 'it is a replica, which cannot be used: name the primary'
    case 'fsync_off':
      return 'fsync is off: if the machine fails, all of it may be lost or damaged'
    case 'full_page_writes_off':
      return 'full_page_writes is off: if the machine fails, it may be damaged'
    case 'synchronous_commit_off':
      return 'synchronous_commit is off: if the server fails, the last commits are lost, and attempts that had ended run again'
    case 'few_connections':
      return 'few connections are left: raise max_connections, or give addresses a smaller connections=N'
    case 'lost_holders': {
      const { count, hasRuns } = hint
      const gone = count === 1 ? '1 process ended while it held' : `${count} processes ended while they held`
      return hasRuns
        ? `${gone} runs or tasks: ${interruptedRuns(command)}`
        : `${gone} tasks of a program: start that program again, and it takes them over`
    }
    case 'overdue_in_stopped_run':
      return `steps have been due for more than a minute, in runs that no process executes: ${interruptedRuns(command)}`
    case 'overdue_retry':
      return `retries have been due for more than a minute: ${command(['ps', '--retrying'])}`
    case 'overdue_task':
      return `${hint.id} of queue ${hint.queue} has been due for more than a minute: start the program that executes this queue`
  }
}

function interruptedRuns(command: CommandWords): string {
  return command(['ps', '--state', 'interrupted'])
}
