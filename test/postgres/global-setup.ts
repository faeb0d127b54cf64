/**
 * What vitest does once before and after a run: it listens for the first test that wants a PostgreSQL server, starts one
 * then, and ends it. A run that wants none starts none. Imports Node and the shared server.
 */
import { randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { PostgresServer } from './server.js'
import { STARTER, startShared } from './shared-server.js'

export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  // Every project of the configuration comes by; the first is enough.
  if (process.env[STARTER] !== undefined || (process.env['REPRISE_TEST_POSTGRES'] ?? '') !== '') return undefined
  let started: Promise<PostgresServer> | undefined
  // Others on this machine do not know where to ask.
  const where = `/${randomBytes(12).toString('hex')}`
  const listener = createServer((request, response) => {
    if (request.url !== where) {
      response.writeHead(404).end()
      return
    }
    started ??= startShared()
    started.then(
      ({ url }) => response.end(url),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  process.env[STARTER] = `http://127.0.0.1:${await portOf(listener)}${where}`
  return async () => {
    delete process.env[STARTER]
    listener.close()
    listener.closeAllConnections()
    await started?.then(
      (server) => server.remove(),
      // Whoever asked has heard of it.
      () => undefined,
    )
  }
}

function portOf(listener: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    listener.once('error', reject)
    listener.listen(0, '127.0.0.1', () => resolve((listener.address() as AddressInfo).port))
    listener.unref()
  })
}
