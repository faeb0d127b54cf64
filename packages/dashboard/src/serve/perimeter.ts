/**
 * Which requests are looked at at all: those that name this server, and come from no other site. Host names are compared
 * exactly, which ends DNS rebinding: the name that leads a browser here is not one of ours. Pure. Imports problems.
 */
import type { Problem } from './problem.js'

/** The names under which a server is reached. */
export interface Perimeter {
  /** Values of `Host`, in lower case, with the port where it is not the usual one. */
  readonly hosts: ReadonlySet<string>
  /** Values of `Origin`. */
  readonly origins: ReadonlySet<string>
}

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]']

/** Where a server listens: its names are known from it. */
export interface Place {
  /** Undefined: on a socket of the file system. */
  readonly port: number | undefined
  /** Whether only this machine can reach it. */
  readonly isLoopback: boolean
  /** What others call it; undefined: nobody else does. */
  readonly publicUrl: URL | undefined
}

export function perimeterOf({ port, isLoopback, publicUrl }: Place): Perimeter {
  const own = port === undefined ? ['localhost'] : isLoopback ? LOOPBACK_NAMES.map((name) => `${name}:${port}`) : []
  const origins = own.map((host) => `http://${host}`)
  return {
    hosts: new Set([...own, ...(publicUrl === undefined ? [] : [publicUrl.host])]),
    origins: new Set([...origins, ...(publicUrl === undefined ? [] : [publicUrl.origin])]),
  }
}

/** The names are not listed: whoever asks may be the one that is kept out. */
const WRONG_HOST: Problem = {
  status: 421,
  kind: 'wrong_host',
  title: 'The server does not go by the name in Host',
  detail: 'use the address that it printed at its start, or start it with --public-url for this name',
}

/** What is wrong with where the request goes, or where it comes from. `host`: as it was sent. */
export function intruder(request: Request, host: string | null, { hosts, origins }: Perimeter): Problem | undefined {
  if (host === null || !hosts.has(host.toLowerCase())) return WRONG_HOST
  const origin = request.headers.get('origin')
  if (origin !== null && !origins.has(origin))
    return { status: 403, kind: 'wrong_origin', title: 'The request comes from another site' }
  const site = request.headers.get('sec-fetch-site')
  // `same-site` is another port of the same machine as well.
  if (site !== null && site !== 'same-origin' && site !== 'none')
    return { status: 403, kind: 'cross_site', title: 'The request comes from another site' }
  if (request.method === 'OPTIONS')
    return { status: 403, kind: 'no_cors', title: 'Other sites may not use this server' }
  return undefined
}
