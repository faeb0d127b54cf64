/**
 * Checks of the installation, the store, and every record in it. Nothing is changed. Imports Node, the library and the
 * state directory.
 */
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import path from 'node:path'
import { LedgerError } from 'reprise/durable'
import { checkLedger, type CopiedRows, type LedgerCheck, type LedgerFault, type StoreCheck } from 'reprise/internal'
import { faultsOfRecord } from '../run/recorded-plan.js'
import { StateDirectory } from '../state/state-directory.js'
import { plural } from '../words/failure-words.js'
import { byteText } from '../words/figures.js'
import { faultsOfGroup } from '../run/group-record.js'
import { type Cure, cureOf, placeText } from './doctor-cure.js'
import { fileOf, storeWithoutPassword } from './store-address.js'
import { expectKept, stateDirectoryOf } from './store.js'

export interface DoctorCheck {
  readonly area: 'installation' | 'store' | 'state'
  /** `note`: worth knowing, and no fault. */
  readonly state: 'ok' | 'note' | 'fault'
  /** Of a fault. `unusable`: nothing can be read or written. `refused`: what a command refuses to go on with. */
  readonly severity: FaultSeverity | null
  /** The invariant, or `state` for what a resume refuses. */
  readonly rule: string | null
  readonly place: string | null
  readonly message: string
  readonly cure: Cure | null
}

type FaultSeverity = 'unusable' | 'refused'

/** The oldest Node that the packages accept. */
const LEAST_NODE = [20, 19] as const

export async function checkInstallation(store: string): Promise<DoctorCheck[]> {
  expectKept(store)
  return [
    nodeCheck(process.versions.node),
    ...(await driverChecks(fileOf(store) !== undefined)),
    directoryCheck(stateDirectoryOf(store)),
  ]
}

function nodeCheck(version: string): DoctorCheck {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isNew = major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1])
  const message = `Node ${version}`
  if (isNew) return ok('installation', message)
  const cure = { type: 'install_node', version: LEAST_NODE.join('.') } as const
  return fault('installation', 'unusable', { message: `${message} is too old`, cure })
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
  const cure = adviceOf(await missingDriverCure())
  return [fault('installation', 'unusable', { message, cure }), ...notes]
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
    const cure: Cure = isOwn ? { type: 'make_writable', path: nearest } : { type: 'run_as_owner', uid }
    return fault('installation', 'unusable', { message, cure })
  }
}

export async function checkStore(store: string): Promise<DoctorCheck[]> {
  expectKept(store)
  let state: LedgerCheck | undefined
  const take = async (rows: CopiedRows): Promise<void> =>
    void (state = await checkLedger(rows, faultsOfRecord, faultsOfGroup))
  try {
    const found = await storeCheck(store, take)
    return [...factChecks(found, store), ...damageChecks(found), ...stateChecks(state, found.kind)]
  } catch (error) {
    if (!(error instanceof LedgerError) || error.problem === 'refused') throw error
    return [unreadable(error, storeWithoutPassword(store))]
  }
}

async function storeCheck(store: string, take: (rows: CopiedRows) => Promise<void>): Promise<StoreCheck> {
  const file = fileOf(store)
  if (file === undefined) return (await import('reprise/internal/postgres')).checkPostgres(store, take)
  return (await import('reprise/internal/sqlite')).checkSqlite(file, take)
}

function unreadable({ problem, message }: LedgerError, address: string): DoctorCheck {
  if (problem === 'missing') return note('store', `${address} does not exist yet: the first run makes it`)
  if (problem === 'newer_format') return fault('store', 'refused', { message, cure: { type: 'update_reprise' } })
  // `checkSqlite` passes over damaged pages. Where it fails, salvaging would fail in the same way.
  const isRestorable = problem === 'corrupt' && address.startsWith('sqlite:')
  const cure = isRestorable ? ({ type: 'restore_store', isInPlace: false } as const) : null
  return fault('store', 'unusable', { message, cure })
}

const NAMES = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const

function factChecks({ kind, version, schema, bytes }: StoreCheck, store: string): DoctorCheck[] {
  const what = `${storeWithoutPassword(store)}: ${NAMES[kind]} ${version}, ${byteText(bytes)}`
  if (schema.version > schema.newest) {
    const message = `${what}, schema ${schema.version}, which is newer than this program knows (${schema.newest})`
    return [fault('store', 'refused', { message, cure: { type: 'update_reprise' } })]
  }
  if (schema.version === 0) return [emptyCheck(what, stateDirectoryOf(store))]
  if (schema.version === schema.newest) return [ok('store', `${what}, schema ${schema.version}`)]
  const older = `schema ${schema.version} of ${schema.newest}: the next run updates it`
  return [note('store', `${what}, ${older}`, { type: 'migrate_store' })]
}

/** A file without a schema: no run has been kept in it, or it was emptied. */
function emptyCheck(what: string, stateDirectory: string): DoctorCheck {
  const message = `${what}: there is no ledger in it`
  if (!StateDirectory.at(stateDirectory).hasRuns) return note('store', `${message} yet, the first run makes it`)
  return fault('store', 'unusable', {
    message: `${message}, though ${stateDirectory} has logs of runs`,
    cure: { type: 'restore_store', isInPlace: true },
  })
}

function damageChecks({ kind, damage, schema }: StoreCheck): DoctorCheck[] {
  if (schema.version === 0 || schema.version > schema.newest) return []
  if (damage.length === 0)
    return [ok('store', kind === 'sqlite' ? 'every page and row can be read' : 'every row can be read')]
  const salvage = kind === 'sqlite' ? ({ type: 'salvage_store' } as const) : null
  return damage.map(({ place, problem, cure }) =>
    fault('store', 'unusable', { place, message: problem, cure: adviceOf(cure) ?? salvage }),
  )
}

/** For a store on a server, which cannot be salvaged. */
const RECOUNT =
  'a copy counts its tasks anew: `reprise store backup FILE`, then `reprise store restore FILE` into a new schema'

function stateChecks(state: LedgerCheck | undefined, kind: StoreCheck['kind']): DoctorCheck[] {
  if (state === undefined) return []
  const { runs, tasks, faults } = state
  const wordsOf = ({ rule, place, message }: LedgerFault) => ({ rule, place: placeText(place), message })
  const notes = state.notes.map((one) => ({ ...note('state', ''), ...wordsOf(one) }))
  if (faults.length === 0) {
    const counted = `${plural(runs, 'run')} and ${plural(tasks, 'task')}`
    return [ok('state', `${counted} are consistent (I1 to I10)`), ...notes]
  }
  const cured = faults.map((one) => {
    const cure = one.place.type === 'tally' && kind === 'postgres' ? adviceOf(RECOUNT) : cureOf(one)
    return fault('state', 'refused', { ...wordsOf(one), cure })
  })
  return [...cured, ...notes]
}

/** What the library advises, if it does. */
function adviceOf(text: string | null): Cure | null {
  return text === null ? null : { type: 'advice', text }
}

function ok(area: DoctorCheck['area'], message: string): DoctorCheck {
  return { area, state: 'ok', severity: null, rule: null, place: null, message, cure: null }
}

function note(area: DoctorCheck['area'], message: string, cure: Cure | null = null): DoctorCheck {
  return { ...ok(area, message), state: 'note', cure }
}

type FaultWords = Pick<DoctorCheck, 'message' | 'cure'> & Partial<Pick<DoctorCheck, 'rule' | 'place'>>

function fault(area: DoctorCheck['area'], severity: FaultSeverity, words: FaultWords): DoctorCheck {
  return { ...ok(area, words.message), state: 'fault', severity, ...words }
}
