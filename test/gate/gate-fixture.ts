/** Gates on stores of tests, with a token of each kind, and requests as an attacker would write them. Imports sources. */
import { writeFileSync } from 'node:fs'
import { type IncomingHttpHeaders, request as requestHttp } from 'node:http'
import path from 'node:path'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll } from 'vitest'
import type { Ledger } from 'reprise/durable'
import type { Gate, GateOptions } from '@reprise/dashboard'
import type { Jobs } from '@reprise/jobs'
import { openGateWith } from '../../packages/dashboard/src/open-gate.js'
import type { Bounds } from '../../packages/dashboard/src/serve/bounds.js'

export const SECRETS = { act: 'act-0123456789-0123456789', view: 'view-0123456789-0123456789' } as const

const directory = mkdtempSync(path.join(tmpdir(), 'reprise-gate-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** A path in a directory that is removed after the tests of the file. */
export const pathHere = (name: string): string => path.join(directory, name)

/** A file with a token of each kind. */
export function tokensFile(text = `act ada ${SECRETS.act}\nview vic ${SECRETS.view}\n`, mode = 0o600): string {
  const file = pathHere(`tokens-${Math.random().toString(36).slice(2)}`)
  writeFileSync(file, text, { mode })
  return file
}

/** On a port that is free; it hears of no fault unless the test expects one. */
export async function testGate(jobs: Jobs, options: GateOptions = {}, bounds: Partial<Bounds> = {}): Promise<Gate> {
  const onFault = (text: string): void => console.error(`fault: ${text}`)
  const place = options.socket === undefined ? { port: 0 } : {}
  return openGateWith(jobs, { ...place, tokens: tokensFile(), onFault, ...options }, bounds)
}

export interface Asked {
  readonly method?: string
  /** Null leaves a header out that would be there. */
  readonly headers?: Readonly<Record<string, string | null>>
  readonly body?: string | Buffer
  /** Sent in parts, without saying how long it is. */
  readonly isChunked?: boolean
  readonly token?: string | null
}

export interface Answered {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** A request whose every header is the test's: `fetch` forbids some of them. */
export function ask(gate: Pick<Gate, 'url'>, target: string, asked: Asked = {}): Promise<Answered> {
  const { method = 'GET', headers = {}, body, isChunked = false, token = SECRETS.act } = asked
  const socketPath = gate.url.startsWith('unix:') ? gate.url.slice('unix:'.length) : undefined
  const { hostname, port, host } = new URL(socketPath === undefined ? gate.url : 'http://localhost')
  const usual: Record<string, string | null> = {
    host,
    authorization: token === null ? null : `Bearer ${token}`,
    ...(body !== undefined && { 'content-type': 'application/json', 'x-reprise': '1' }),
    ...(body !== undefined && !isChunked && { 'content-length': String(Buffer.byteLength(body)) }),
    ...headers,
  }
  const sent = Object.fromEntries(Object.entries(usual).filter((entry): entry is [string, string] => entry[1] !== null))
  return new Promise((resolve, reject) => {
    const request = requestHttp({
      ...(socketPath === undefined ? { hostname, port } : { socketPath }),
      path: target,
      method,
      headers: sent,
      setHost: false,
      agent: false,
    })
    request.on('error', reject)
    request.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => (text += part))
      response.on('error', reject)
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
    })
    request.end(body)
  })
}

/** A change with everything that one needs. */
export async function post(
  gate: Pick<Gate, 'url'>,
  target: string,
  body: unknown = {},
  asked: Asked = {},
): Promise<Answered> {
  return ask(gate, target, { method: 'POST', body: JSON.stringify(body), ...asked })
}

export const jsonIn = ({ text }: Answered): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>

/** Everything that a request could have changed; heartbeats go on meanwhile. */
export async function contentsOf(ledger: Ledger): Promise<string> {
  const [runs, tasks, gates, events] = [
    await ledger.runs({ limit: 1000 }),
    await ledger.list({ limit: 1000 }),
    await ledger.gates(),
    await ledger.events(0, 1000),
  ]
  return JSON.stringify({ runs, tasks, gates, events })
}
