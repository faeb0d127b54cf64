/** `reprise store migrate|backup|restore`: what is done to a store as such. Imports the care of stores and output. */
import {
  backUp,
  byteText,
  expectFound,
  migrateStore,
  pendingMigration,
  restore as restoreStore,
  storeWithoutPassword,
} from '@reprise/workflow/internal'
import type { CommandModule, ParsedArguments } from '../command.js'
import { writeJson } from '../output/json.js'
import { commandWords } from '../output/next-commands.js'

type OfFile = ParsedArguments<{ readonly file: string }>

export const migrate: CommandModule = {
  async run(given, { io, settings }) {
    const { dryRun = false } = (given as ParsedArguments<object, { readonly dryRun?: boolean }>).options
    const { store } = settings
    const { schema, sql } = await pendingMigration(store)
    const { version: from, newest: to } = schema
    const address = storeWithoutPassword(store)
    if (!dryRun) await migrateStore(store)
    if (settings.json) return writeJson(io.stdout, { address, from, to, isDone: !dryRun, sql })
    if (dryRun) for (const statement of sql) io.stdout.write(`${statement.trim().replace(/;$/, '')};\n\n`)
    if (settings.quiet) return
    if (sql.length === 0) io.stderr.write(`${address} is up to date: schema ${to}.\n`)
    else if (dryRun) io.stderr.write(`${address} would go from schema ${from} to ${to}.\n`)
    else io.stderr.write(`${address} has gone from schema ${from} to ${to}.\n`)
  },
}

export const backup: CommandModule = {
  async run(given, { io, settings }) {
    const { file } = (given as OfFile).values
    const { store } = settings
    const bytes = await expectFound(store, () => backUp(store, file))
    if (settings.json) return writeJson(io.stdout, { address: storeWithoutPassword(store), file, bytes })
    if (settings.quiet) return
    const next = commandWords({ store: `sqlite:${file}` }, {})
    io.stderr.write(
      `${storeWithoutPassword(store)} is copied into ${file}, ${byteText(bytes)}.\nnext: ${next(['ps'])}\n`,
    )
  },
}

export const restore: CommandModule = {
  async run(given, { io, settings }) {
    const { file } = (given as OfFile).values
    const { store } = settings
    const rows = await restoreStore(store, file)
    if (settings.json) return writeJson(io.stdout, { address: storeWithoutPassword(store), file, rows })
    if (settings.quiet) return
    const next = commandWords(settings, io.env)(['ps'])
    const { runs = 0, tasks = 0 } = rows
    io.stderr.write(
      `${storeWithoutPassword(store)} has what ${file} had: runs ${runs}, tasks ${tasks}.\nnext: ${next}\n`,
    )
  },
}
