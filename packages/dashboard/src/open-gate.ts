/**
 * A gate for programs and for the command line: what may be opened to whom is checked here. Imports the server and the
 * library's options.
 *
 * Invariant: nothing but this machine reaches a gate unless it has a public name and tokens.
 */
import type { Jobs } from '@reprise/jobs'
import { type OptionProblem, OptionsError } from 'reprise'
import { expectOptions, type OptionCheck } from 'reprise/internal'
import type { Bounds } from './serve/bounds.js'
import { isLoopbackHost, serveGate } from './serve/gate.js'
import type { ListenAddress } from './serve/listen.js'
import { newSecret, readTokens, Tokens } from './serve/tokens.js'

/** Options of `openGate`. An option that is misspelt or of the wrong type is refused. */
export interface GateOptions {
  /** The port; 0 is any that is free. @default 7718 @example { port: 8080 } */
  readonly port?: number
  /**
   * The address to listen at. Other machines reach another one than the default, which needs `publicUrl` and tokens.
   * @default '127.0.0.1'
   * @example { host: '0.0.0.0', publicUrl: 'https://gate.example', tokens: '/etc/reprise/tokens' }
   */
  readonly host?: string
  /**
   * What others call the gate: requests with another `Host` are refused.
   * @default none: the loopback names
   * @example { publicUrl: 'https://gate.example' }
   */
  readonly publicUrl?: string
  /** A socket of the file system instead of a port; only its user can open it. @default a port @example { socket: '/run/gate' } */
  readonly socket?: string
  /**
   * A file with lines `view|act NAME TOKEN`, which only its user can read; `false`: no token is needed, on this machine alone.
   * @default one token, made at each start
   * @example { tokens: '/etc/reprise/tokens' }
   */
  readonly tokens?: string | false
  /** Whether datacenters and settings may be changed too. @default false @example { allowChanges: true } */
  readonly allowChanges?: boolean
  /** What the API description says of its version. @default '0' @example { version: '1.4.2' } */
  readonly version?: string
  /** Hears of faults of the gate or its store. @default they are dropped @example { onFault: (text) => console.error(text) } */
  readonly onFault?: (text: string) => void
}

/** A gate that serves. */
export interface Gate {
  /** Where it listens, such as `http://127.0.0.1:7718`. */
  readonly url: string
  /** The token that was made at this start; undefined: a file has them, or none is needed. */
  readonly token: string | undefined
  /** Accepts nothing more, and ends once every request is answered. The jobs stay open. @example await gate.close() */
  close(): Promise<void>
}

const USUAL_PORT = 7718

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''
const TEXT: OptionCheck = [isText, 'a text']

const CHECKS: Readonly<Record<keyof GateOptions, OptionCheck>> = {
  port: [isPort, 'a whole number from 0 to 65535'],
  host: TEXT,
  publicUrl: TEXT,
  socket: TEXT,
  tokens: [(value) => value === false || isText(value), 'the name of a file, or false'],
  allowChanges: [(value) => typeof value === 'boolean', 'true or false'],
  version: TEXT,
  onFault: [(value) => typeof value === 'function', 'a function'],
}

function isPort(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 65_535
}

/**
 * Serves the API of jobs. Rejects with an `OptionsError` for what would open the gate to others without a name or a token.
 * @example
 * const gate = await openGate(jobs, { port: 0 })
 * console.log(gate.url, gate.token)
 * await gate.close()
 */
export async function openGate(jobs: Jobs, options: GateOptions = {}): Promise<Gate> {
  return openGateWith(jobs, options)
}

/** `bounds`: what tests shorten. */
export async function openGateWith(jobs: Jobs, options: GateOptions, bounds: Partial<Bounds> = {}): Promise<Gate> {
  const { address, publicUrl, known, token } = checkedGate(options)
  const { allowChanges = false, version = '0', onFault = () => undefined } = options
  const parts = { jobs, tokens: known, allowsChanges: allowChanges, version, onFault, bounds }
  const server = await serveGate(parts, { address, publicUrl })
  return { url: server.url, token, close: () => server.close() }
}

/** What the options mean; throws for those that `openGate` would refuse, and touches nothing. */
export function checkedGate(options: GateOptions): {
  readonly address: ListenAddress
  readonly publicUrl: URL | undefined
  /** null: none is needed. */
  readonly known: Tokens | null
  /** Made for this start. */
  readonly token: string | undefined
} {
  expectOptions('openGate', options, CHECKS)
  const { tokens } = options
  const place = placeOf(options)
  if (tokens === false) return { ...place, known: null, token: undefined }
  if (tokens !== undefined) return { ...place, known: readTokens(tokens), token: undefined }
  const token = newSecret()
  return { ...place, known: new Tokens([{ access: 'act', name: 'start-token', secret: token }]), token }
}

function placeOf(options: GateOptions): { readonly address: ListenAddress; readonly publicUrl: URL | undefined } {
  const { host = '127.0.0.1', port = USUAL_PORT, socket, tokens } = options
  const problems: OptionProblem[] = []
  const publicUrl = options.publicUrl === undefined ? undefined : readPublicUrl(options.publicUrl, problems)
  if (socket !== undefined) {
    for (const name of ['host', 'port'] as const)
      if (options[name] !== undefined)
        problems.push({ path: name, message: 'cannot be given with a socket', suggestion: 'leave one of them out' })
  } else if (!isLoopbackHost(host)) {
    if (options.publicUrl === undefined) {
      const suggestion = 'say what they call the gate, such as https://gate.example'
      problems.push({ path: 'publicUrl', message: `is missing: other machines reach ${host}`, suggestion })
    }
  }
  if (tokens === false && ((socket === undefined && !isLoopbackHost(host)) || publicUrl !== undefined)) {
    const message = 'are needed: others reach the gate'
    problems.push({ path: 'tokens', message, suggestion: 'name a file with tokens' })
  }
  if (problems.length > 0) throw new OptionsError('openGate', problems)
  return { address: socket === undefined ? { host, port } : { socket }, publicUrl }
}

function readPublicUrl(text: string, problems: OptionProblem[]): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url?.pathname === '/' && url.search === '' && url.hash === '' && url.username === ''
  if (isPlain && /^https?:$/.test(url.protocol)) return url
  problems.push({ path: 'publicUrl', message: `${text} is not http(s)://HOST[:PORT] alone` })
  return undefined
}
