/**
 * Restate: a server of its own with its own log, synced to disk; the program is an HTTP endpoint that the server calls, and
 * asks for work through the server's ingress.
 */
import * as restate from '@restatedev/restate-sdk'
import * as clients from '@restatedev/restate-sdk-clients'
import { createServer } from 'node:http2'
import { inLanes } from '../turn.mjs'

/** @param {{ adminUrl: string }} place */
export async function counter({ adminUrl }) {
  const query = `SELECT count(*) AS n FROM sys_invocation WHERE target_handler_name = 'job' AND status = 'completed'`
  return async () => {
    const answer = await fetch(`${adminUrl}/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ query }),
    })
    const { rows } = /** @type {{ rows: { n: number }[] }} */ (await answer.json())
    return rows[0]?.n ?? 0
  }
}

/** @type {(index: number) => void} */
let begin = () => undefined

const service = restate.service({
  name: 'bench',
  handlers: {
    chain: async (/** @type {restate.Context} */ ctx, /** @type {number} */ count) => {
      for (let i = 0; i < count; i++) await ctx.run('step', () => i)
    },
    failing: async (/** @type {restate.Context} */ ctx) => {
      const policy = { maxRetryAttempts: 4, initialRetryInterval: 1, retryIntervalFactor: 1, maxRetryInterval: 1 }
      await ctx.run('fails', () => Promise.reject(new Error('refused')), policy)
    },
    job: async (/** @type {restate.Context} */ ctx, /** @type {number} */ i) =>
      ctx.run('step', () => {
        begin(i)
        return i
      }),
  },
})

/** @param {{ act: string, ingressUrl: string, adminUrl: string, endpointPort: number }} place */
export async function open({ act, ingressUrl, adminUrl, endpointPort }) {
  const handler = restate.createEndpointHandler({ services: [service], logger: () => undefined })
  const server = createServer(handler)
  await new Promise((resolve) => server.listen(endpointPort, '127.0.0.1', () => resolve(undefined)))
  const registered = await fetch(`${adminUrl}/deployments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ uri: `http://127.0.0.1:${endpointPort}`, force: true }),
  })
  if (!registered.ok) throw new Error(`Restate does not take the endpoint: ${await registered.text()}`)
  const ingress = clients.connect({ url: ingressUrl })
  const client = ingress.serviceClient(service)
  const sender = ingress.serviceSendClient(service)

  return {
    /** @param {number} count @param {number} width */
    steps: (count, width) => inLanes(width, width, () => client.chain(Math.round(count / width))),
    /** @param {number} count @param {number} width */
    failing: (count, width) => inLanes(count, width, () => client.failing().catch(() => undefined)),
    /** @param {number} count @param {number} width */
    run: (count, width) => inLanes(count, width, (i) => client.job(i)),
    /** It calls the program as soon as it has a job: what is to be done by another process comes later. @param {number} count */
    async record(count) {
      const dueMs = act === 'fill' ? Date.now() + 2000 + count * 3 : 0
      const later = () => clients.rpc.sendOpts({ delay: Math.max(0, dueMs - Date.now()) })
      await inLanes(count, 100, (i) => (dueMs === 0 ? sender.job(i) : sender.job(i, later())))
    },
    /** @param {(index: number) => void} act */
    async serve(act) {
      begin = act
      await new Promise(() => undefined)
    },
    step: () => client.chain(1),
    close: async () => {
      server.close()
    },
  }
}
