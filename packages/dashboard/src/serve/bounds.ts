/** What a server allows one client and all of them, so that none takes it from the others. Imports nothing. */

export interface Bounds {
  /** How long the headers of a request may take. */
  readonly headersMs: number
  /** How long a request may take until it is received, and how long its answer may take. */
  readonly requestMs: number
  /** Connections at a time; further ones are closed. */
  readonly connections: number
  /** Bytes of a body, where the route says nothing else. */
  readonly bodyBytes: number
  /** Bytes of all bodies that are being read. */
  readonly bodyMemoryBytes: number
  /** How long requests that are being answered may take once the server stops. */
  readonly drainMs: number
}

export const BOUNDS: Bounds = {
  headersMs: 10_000,
  requestMs: 30_000,
  connections: 200,
  bodyBytes: 1024 * 1024,
  bodyMemoryBytes: 64 * 1024 * 1024,
  drainMs: 10_000,
}
