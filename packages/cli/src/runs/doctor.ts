/**
 * What `reprise doctor` looks at: the installation, the store, and every record in it. Each look answers with checks.
 * Nothing is changed. Imports Node, the library and the store's address.
 */
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import path from 'node:path'
import { byteText, plural, StateDirectory } from '@reprise/workflow/internal'
import { LedgerError } from 'reprise/durable'
import { checkLedger, type CopiedRows, type LedgerCheck, type LedgerFault, type StoreCheck } from 'reprise/internal'
import type { CommandContext } from '../command-context.js'
import { EXIT, type ExitCode } from '../exit-codes.js'
import type { DoctorCheck } from '../output/doctor.js'
import { lookFor } from '../output/look.js'
import { type CommandWords, commandWords } from '../output/next-commands.js'
import { fileOf } from '../settings.js'
import { cureOf, placeText } from './doctor-cures.js'
import { nameOf } from './store-care.js'
import { expectKept, stateDirectoryOf } from './store.js'

/** The oldest Node that the packages accept. */
const LEAST_NODE = [20, 19] as const
const SALVAGE = ['doctor', '--salvage', 'salvaged.db']
const RESTORE = ['store', 'restore', 'BACKUP']

export async function checkEverything(context: CommandContext): Promise<DoctorCheck[]> {
  expectKept(context.settings.store)
  return [...(await checkInstallation(context)), ...(await checkStore(context))]
}

/** The exit code of the gravest: a store that cannot be read, then records that cannot be. */
export function exitCodeOf(checks: readonly DoctorCheck[]): ExitCode {
  const faults = checks.filter(({ state }) => state === 'fault')
  if (faults.length === 0) return EXIT.done
  return faults.some(({ code }) => code === EXIT.unwritable) ? EXIT.unwritable : EXIT.refused
}

async function checkInstallation({ world, settings }: CommandContext): Promise<DoctorCheck[]> {
  return [
    nodeCheck(process.versions.node),
    ...(await driverChecks(fileOf(settings.store) !== undefined)),
    directoryCheck(stateDirectoryOf(settings.store)),
    terminalCheck({ world, settings }),
  ]
}

function nodeCheck(version: string): DoctorCheck {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isNew = major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1])
  const message = `Node ${version}`
  if (isNew) return ok('installation', message)
  const cure = `install Node ${LEAST_NODE.join('.')} or newer`
  return fault('installation', EXIT.unwritable, { message: `${message} is too old`, cure })
}

async function driverChecks(isNeeded: boolean): Promise<DoctorCheck[]> {
  const { missingDriverCure, sqliteDrivers } = await import('reprise/internal/sqlite')
  const drivers = await sqliteDrivers()
  const used = drivers.findIndex(({ version }) => version !== null)
  const passedOver = used === -1 ? drivers : drivers.slice(0, used)
  const notes = passedOver.map(({ driver, problem }) => note('installation', `${driver} is not used: ${problem}`))
  const chosen = drivers[used]
  if (chosen !== undefined) return [ok('installation', `SQLite ${chosen.version}, by ${chosen.driver}`), ...notes]
  const message = 'no driver of SQLite can be used'
  if (!isNeeded) return [note('installation', `${message}; the store is on a server and needs none`), ...notes]
  return [fault('installation', EXIT.unwritable, { message, cure: await missingDriverCure() }), ...notes]
}

/** Of a directory that does not exist yet, the nearest one above it that does: the first run makes the rest. */
function directoryCheck(directory: string): DoctorCheck {
  let nearest = path.resolve(directory)
  while (!existsSync(nearest) && nearest !== path.dirname(nearest)) nearest = path.dirname(nearest)
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK)
    return ok('installation', `${nearest} can be written`)
  } catch (error) {
    const message = `${nearest} cannot be written: ${(error as Error).message}`
    const { uid } = statSync(nearest)
    const isOwn = uid === (process.geteuid?.() ?? uid)
    const cure = isOwn
      ? `chmod u+wx ${nearest}`
      : `run as its owner, the user with id ${uid}, or choose another --store`
    return fault('installation', EXIT.unwritable, { message, cure })
  }
}

function terminalCheck({ world, settings }: CommandContext): DoctorCheck {
  const { stdout, env } = world
  if (stdout.isTTY !== true) return ok('installation', 'stdout is not a terminal: plain lines, no live view')
  const { bars, blocks, style } = lookFor(world, settings)
  const marked = style.bold('x') === 'x' ? 'no colours' : 'colours'
  const text = blocks ? 'UTF-8' : 'ASCII'
  const plain = bars ? '' : `; plain lines, since ${env['CI'] ? 'CI' : 'TERM'} says so`
  return ok('installation', `terminal of ${stdout.columns ?? 'unknown'} columns, ${marked}, ${text}${plain}`)
}

async function checkStore(context: CommandContext): Promise<DoctorCheck[]> {
  const { settings, world } = context
  const command = commandWords(settings, world.env)
  const address = nameOf(settings.store)
  let state: LedgerCheck | undefined
  const take = async (rows: CopiedRows): Promise<void> => void (state = await checkLedger(rows))
  try {
    const store = await storeCheck(settings.store, take)
    return [
      ...factChecks(store, settings.store, command),
      ...damageChecks(store, command),
      ...stateChecks(state, command),
    ]
  } catch (error) {
    if (!(error instanceof LedgerError) || error.problem === 'refused') throw error
    return [unreadable(error, address, command)]
  }
}

async function storeCheck(store: string, take: (rows: CopiedRows) => Promise<void>): Promise<StoreCheck> {
  const file = fileOf(store)
  if (file === undefined) return (await import('reprise/internal/postgres')).checkPostgres(store, take)
  return (await import('reprise/internal/sqlite')).checkSqlite(file, take)
}

function unreadable({ problem, message }: LedgerError, address: string, command: CommandWords): DoctorCheck {
  if (problem === 'missing') return note('store', `${address} does not exist yet: the first run makes it`)
  if (problem === 'newer_format') return fault('store', EXIT.refused, { message, cure: 'npm install -g @reprise/cli' })
  // `checkSqlite` passes over damaged pages. Where it fails, `--salvage` would fail in the same way.
  const cure = problem === 'corrupt' && address.startsWith('sqlite:') ? command(RESTORE) : null
  return fault('store', EXIT.unwritable, { message, cure })
}

const NAMES = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const

function factChecks({ kind, version, schema, bytes }: StoreCheck, store: string, command: CommandWords): DoctorCheck[] {
  const what = `${nameOf(store)}: ${NAMES[kind]} ${version}, ${byteText(bytes)}`
  if (schema.version > schema.newest) {
    const message = `${what}, schema ${schema.version}, which is newer than this program knows (${schema.newest})`
    return [fault('store', EXIT.refused, { message, cure: 'npm install -g @reprise/cli' })]
  }
  if (schema.version === 0) return [emptyCheck(what, stateDirectoryOf(store), command)]
  if (schema.version === schema.newest) return [ok('store', `${what}, schema ${schema.version}`)]
  const older = `schema ${schema.version} of ${schema.newest}: the next run updates it`
  return [note('store', `${what}, ${older}`, command(['store', 'migrate']))]
}

/** A file without a schema: no run has been kept in it, or it was emptied. */
function emptyCheck(what: string, stateDirectory: string, command: CommandWords): DoctorCheck {
  const message = `${what}: there is no ledger in it`
  if (!StateDirectory.at(stateDirectory).hasRuns) return note('store', `${message} yet, the first run makes it`)
  return fault('store', EXIT.unwritable, {
    message: `${message}, though ${stateDirectory} has logs of runs`,
    cure: `move the file away, then ${command(['store', 'restore', 'BACKUP'])}`,
  })
}

function damageChecks({ kind, damage, schema }: StoreCheck, command: CommandWords): DoctorCheck[] {
  if (schema.version === 0 || schema.version > schema.newest) return []
  if (damage.length === 0)
    return [ok('store', kind === 'sqlite' ? 'every page and row can be read' : 'every row can be read')]
  const salvage = kind === 'sqlite' ? command(SALVAGE) : null
  return damage.map(({ place, problem, cure }) =>
    fault('store', EXIT.unwritable, { place, message: problem, cure: cure ?? salvage }),
  )
}

function stateChecks(state: LedgerCheck | undefined, command: CommandWords): DoctorCheck[] {
  if (state === undefined) return []
  const { runs, tasks, faults } = state
  const wordsOf = ({ rule, place, message }: LedgerFault) => ({ rule, place: placeText(place), message })
  const notes = state.notes.map((one) => ({ ...note('state', ''), ...wordsOf(one) }))
  if (faults.length === 0) {
    const counted = `${plural(runs, 'run')} and ${plural(tasks, 'task')}`
    return [ok('state', `${counted} are consistent (I1 to I9)`), ...notes]
  }
  const cured = faults.map((one) => fault('state', EXIT.refused, { ...wordsOf(one), cure: cureOf(one, command) }))
  return [...cured, ...notes]
}

function ok(area: DoctorCheck['area'], message: string): DoctorCheck {
  return { area, state: 'ok', rule: null, place: null, message, cure: null, code: EXIT.done }
}

function note(area: DoctorCheck['area'], message: string, cure: string | null = null): DoctorCheck {
  return { ...ok(area, message), state: 'note', cure }
}

type FaultWords = Pick<DoctorCheck, 'message' | 'cure'> & Partial<Pick<DoctorCheck, 'rule' | 'place'>>

function fault(area: DoctorCheck['area'], code: ExitCode, words: FaultWords): DoctorCheck {
  return { ...ok(area, words.message), state: 'fault', code, ...words }
}
