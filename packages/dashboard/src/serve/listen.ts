/**
 * A server of Node for a fetch handler: on a port, or on a socket of the file system that only its user can open. Imports
 * Node and its adapter of hono.
 *
 * Invariant: a client that is slow, silent or greedy loses its own connection, and nobody else's.
 */
import { chmodSync, lstatSync, unlinkSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { connect } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import type { FetchHandler } from './api.js'
import { BOUNDS, type Bounds } from './bounds.js'

/** Where a server listens. */
export type ListenAddress = { readonly host: string; readonly port: number } | { readonly socket: string }

/** The address cannot be listened at. */
export class ListenError extends Error {}

export interface Listening {
  /** `http://127.0.0.1:7718`, or `unix:` with the path of the socket. */
  readonly url: string
  /** Undefined: on a socket. */
  readonly port: number | undefined
  /** Accepts nothing more, and ends when every request is answered, or at the limit for that. */
  close(): Promise<void>
}

/** `handler` is made when the port is known, since the names of the server depend on it. */
export async function listen(
  address: ListenAddress,
  handlerAt: (port: number | undefined) => FetchHandler,
  given: Partial<Bounds> = {},
): Promise<Listening> {
  const bounds = { ...BOUNDS, ...given }
  let handler: FetchHandler | undefined
  const server = createAdaptorServer({
    fetch: (request, env) => handler?.(request, env),
    overrideGlobalObjects: false,
    // Of a request that names no host: whether the server lives may be asked so, and nothing else.
    hostname: 'localhost',
    createServer,
    serverOptions: {
      headersTimeout: bounds.headersMs,
      requestTimeout: bounds.requestMs,
      // How late the two may be.
      connectionsCheckingInterval: Math.min(1000, bounds.headersMs / 4),
      keepAliveTimeout: 5000,
      maxHeaderSize: 16 * 1024,
      requireHostHeader: false,
    },
  }) as Server
  server.maxConnections = bounds.connections
  // A client that does not read its answer.
  server.timeout = 2 * bounds.requestMs
  const close = (): Promise<void> => closed(server, bounds.drainMs)
  if ('socket' in address) {
    await claimSocket(address.socket)
    await listening(server, () => listenPrivately(server, address.socket))
    handler = handlerAt(undefined)
    return { url: `unix:${address.socket}`, port: undefined, close }
  }
  const { host } = address
  await listening(server, () => server.listen(address.port, host), address.port)
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new TypeError('a server on a port has no port')
  handler = handlerAt(bound.port)
  const shown = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address
  return { url: `http://${shown}:${bound.port}`, port: bound.port, close }
}

/** `port`: undefined on a socket, whose path was looked at before. */
function listening(server: Server, start: () => void, port?: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = ({ code, message }: NodeJS.ErrnoException): void =>
      reject(new ListenError(code === 'EADDRINUSE' && port !== undefined ? `port ${port} is in use` : message))
    server.once('error', fail)
    server.once('listening', () => {
      server.off('error', fail)
      resolve()
    })
    start()
  })
}

/** Nobody can connect between the making of the socket and the setting of its mode. */
function listenPrivately(server: Server, path: string): void {
  // Threads have no mask of their own, and may not set that of the process.
  const mask = canMask() ? process.umask(0o177) : undefined
  try {
    server.listen(path, () => chmodSync(path, 0o600))
  } finally {
    if (mask !== undefined) process.umask(mask)
  }
}

function canMask(): boolean {
  try {
    process.umask(process.umask(0o177))
    return true
  } catch {
    return false
  }
}

/** A socket that a killed server has left is removed; any other file, and one that is listened at, stays. */
async function claimSocket(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isSocket()) throw new ListenError(`${path} exists and is not a socket`)
  const isListening = await new Promise<boolean>((resolve) => {
    const probe = connect(path)
    probe.once('connect', () => {
      probe.destroy()
      resolve(true)
    })
    probe.once('error', () => resolve(false))
  })
  if (isListening) throw new ListenError(`another process listens at ${path}`)
  unlinkSync(path)
}

function closed(server: Server, drainMs: number): Promise<void> {
  return new Promise((resolve) => {
    const idle = setInterval(() => server.closeIdleConnections(), 50)
    const limit = setTimeout(() => server.closeAllConnections(), drainMs)
    server.close(() => {
      clearInterval(idle)
      clearTimeout(limit)
      resolve()
    })
    server.closeIdleConnections()
  })
}
