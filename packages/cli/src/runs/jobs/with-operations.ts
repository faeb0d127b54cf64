/** The operations on jobs that a command was pointed at: of the store, or of a gate. Imports the jobs package. */
import { readFileSync } from 'node:fs'
import { type Caller, type JobOperations, operationsOf } from '@reprise/jobs/internal'
import { LATEST } from '@reprise/workflow/internal'
import { isRepriseError } from 'reprise'
import { describeError } from 'reprise/internal'
import type { CommandContext } from '../../command-context.js'
import { RefusedError, UsageError } from '../../failures.js'
import { actorOf } from '../actor.js'
import { withJobs, withNewJobs } from './with-jobs.js'

/** More jobs than these are not searched for a name or the beginning of an id. */
const SEARCHED_JOBS = 200

/** The flags of commands that can ask a gate. */
export type GateFlags = {
  readonly gate?: string
  readonly tokenFile?: string
}

/** At a store. */
export const LOOK_EVERY_MS = 250

export interface JobAccess {
  readonly jobs: JobOperations
  /** The same for whoever waits for a job: a gate that does not answer is given more time. */
  readonly waiting: JobOperations
  readonly caller: Caller
  /** How long to wait between two looks: requests to others are fewer. */
  readonly lookEveryMs: number
  /** What a command to type next has beside its own words. */
  readonly where: readonly string[]
}

/** `mayBeNew`: the command makes a store where there is none. */
export async function withOperations<T>(
  context: CommandContext,
  flags: GateFlags,
  act: (access: JobAccess) => Promise<T>,
  { mayBeNew = false } = {},
): Promise<T> {
  const { by = '' } = actorOf(undefined)
  if (flags.gate !== undefined) return act({ ...(await gateOf(flags.gate, flags, context)), caller: { by } })
  if (flags.tokenFile !== undefined) throw new UsageError('--token-file is of no use without --gate')
  const open = mayBeNew ? withNewJobs : withJobs
  return open(context, (opened) => {
    const jobs = operationsOf(opened)
    return act({ jobs, waiting: jobs, caller: { by }, lookEveryMs: LOOK_EVERY_MS, where: [] })
  })
}

async function gateOf(
  address: string,
  { tokenFile }: GateFlags,
  { io, settings }: CommandContext,
): Promise<Omit<JobAccess, 'caller'>> {
  const { gateOperations } = await import('./gate-client.js')
  const url = readGate(address)
  const token = tokenFile === undefined ? tokenIn(io.env) : readToken(tokenFile)
  const onTrouble = (text: string): void => {
    if (!settings.quiet) io.stderr.write(`waiting for the gate: ${text}\n`)
  }
  const jobs = gateOperations({ url, token, onTrouble, patience: '10s' })
  const waiting = gateOperations({ url, token, onTrouble, patience: '5m' })
  return { jobs, waiting, lookEveryMs: 500, where: ['--gate', address] }
}

const GATE_WORDS = 'such as https://gate.example, http://127.0.0.1:7718 or unix:/run/reprise/gate.sock'

function readGate(address: string): URL {
  if (!URL.canParse(address)) throw new UsageError(`--gate ${address} is no address`, GATE_WORDS)
  const url = new URL(address)
  if (!/^(https?|unix):$/.test(url.protocol)) throw new UsageError(`--gate ${address} is no gate`, GATE_WORDS)
  if (url.username !== '' || url.password !== '')
    throw new UsageError('--gate has a password in it', 'a gate knows tokens: set REPRISE_GATE_TOKEN')
  if (url.protocol !== 'unix:' && (url.pathname !== '/' || url.search !== '' || url.hash !== ''))
    throw new UsageError(`--gate ${address} has more than an address`, `leave out what follows ${url.origin}`)
  return url
}

const TOKEN_VARIABLE = 'REPRISE_GATE_TOKEN'
/** What a header can carry as it is. */
const TOKEN = /^[!-~]+$/

/** Undefined where it is not set or empty. */
function tokenIn(env: CommandContext['io']['env']): string | undefined {
  const token = env[TOKEN_VARIABLE]?.trim() || undefined
  if (token !== undefined && !TOKEN.test(token))
    throw new UsageError(`${TOKEN_VARIABLE} holds no token`, 'set it to the token alone: one word, no name')
  return token
}

function readToken(file: string): string {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`--token-file ${file} cannot be read: ${describeError(error)}`)
  }
  const token = text.trim()
  if (!TOKEN.test(token))
    throw new UsageError(`--token-file ${file} holds no token`, 'write the token alone into it: one word, no name')
  return token
}

/** The job that is meant: an id, the beginning of one, a name for its last job, or `latest`. */
export async function withJob<T>(access: JobAccess, text: string, act: (id: string) => Promise<T>): Promise<T> {
  try {
    return await act(text)
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  return act(await findJobId(access, text))
}

function isNotFound(error: unknown): boolean {
  if (isRepriseError(error, 'task_refused')) return error.kind === 'not_found'
  // What no id can be is no id that is not there; a gate says that it is no name.
  return error instanceof UsageError && error.message.startsWith('id: ')
}

async function findJobId({ jobs, caller, where }: JobAccess, text: string): Promise<string> {
  const { jobs: known } = await jobs.listJobs({ limit: SEARCHED_JOBS }, caller)
  const [latest] = text === LATEST ? known : known.filter(({ name }) => name === text)
  if (latest !== undefined) return latest.id
  const begun = known.filter(({ id }) => id.startsWith(text))
  const [only, ...others] = begun
  if (only !== undefined && others.length === 0) return only.id
  const message = begun.length === 0 ? `There is no job ${text}` : `${text} is the beginning of several jobs`
  const details = begun.slice(0, 5).map(({ id }) => id)
  throw new RefusedError({ kind: 'not_found', message, details, next: [['job', 'list', ...where]] })
}
