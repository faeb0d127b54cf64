/** Steps that ask a server, against real ones on this machine. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer as createTcpServer } from 'node:net'
import { type FailureContext, normalizePolicy } from 'reprise'
import { expect, it } from 'vitest'
import { isRetryable } from '../../packages/reprise/src/core/classify.js'
import { retryAfterMs } from '../../packages/reprise/src/core/retry-after.js'
import type { HttpAction } from '../../packages/workflow/src/plan/plan.js'
import { runHttp } from '../../packages/workflow/src/steps/http.js'
import { contextIn, onEnd } from './step-fixture.js'

interface Heard {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

async function serve(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ url: string; heard: Heard[] }> {
  const heard: Heard[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      heard.push({ method, url, headers, body: Buffer.concat(chunks).toString() })
      answer(request, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard }
}

const http = (url: string, changes: Partial<HttpAction> = {}): HttpAction => ({
  kind: 'http',
  method: 'GET',
  url,
  headers: {},
  body: null,
  expect: { status: [] },
  redirectOrigins: [],
  ...changes,
})

const failureOf = (running: Promise<unknown>): Promise<unknown> =>
  running.then(
    () => undefined,
    (error: unknown) => error,
  )

/** Which words of `retry_on` fit the failure. */
function matchedBy(error: unknown): string[] {
  const fits = (word: string): boolean =>
    isRetryable(normalizePolicy({ retryOn: [word] }).policy, error, { attempt: 1, launch: 1 } as FailureContext)
  return ['network', 'timeout', 'server_error', 'rate_limit'].filter(fits)
}

it('fills in address, headers and body, and gives the answer', async () => {
  const { url, heard } = await serve((_, response) => response.end('{"id": 7}\n'))
  const action = http(`${url}/items/\${item.id}?q=\${q}`, {
    method: 'post',
    headers: { 'X-Region': '${env.REGION}' },
    body: { name: '${item.name}', tags: ['${q}'], all: '${item}' },
  })
  const values = { item: { id: 7, name: 'a "b"' }, q: 'x', env: { REGION: 'eu' } }
  const context = contextIn('/', values)
  expect(await runHttp(action, context)).toEqual({ output: '{"id": 7}\n', exitCode: 0, status: 200 })
  expect(heard).toMatchObject([
    { method: 'POST', url: '/items/7?q=x', headers: { 'x-region': 'eu', 'content-type': 'application/json' } },
  ])
  expect(JSON.parse(heard[0]?.body ?? '')).toEqual({ name: 'a "b"', tags: ['x'], all: { id: 7, name: 'a "b"' } })
  expect(context.logged).toEqual({ stdout: '{"id": 7}\n', stderr: `POST ${url}/items/7?… → 200 OK\n` })
})

it('sends the idempotency key with what changes something, unless the document has its own', async () => {
  const { url, heard } = await serve((_, response) => response.end())
  for (const method of ['GET', 'HEAD', 'POST', 'DELETE']) await runHttp(http(url, { method }), contextIn('/'))
  await runHttp(http(url, { method: 'PUT', headers: { 'Idempotency-KEY': 'mine' } }), contextIn('/'))
  expect(heard.map(({ headers }) => headers['idempotency-key'])).toEqual([
    undefined,
    undefined,
    'key-1',
    'key-1',
    'mine',
  ])
})

it('text is sent as it is', async () => {
  const { url, heard } = await serve((_, response) => response.end())
  await runHttp(
    http(url, { method: 'PUT', body: 'plain ${n}', headers: { 'content-type': 'text/csv' } }),
    contextIn('/', { n: 1 }),
  )
  expect(heard).toMatchObject([{ body: 'plain 1', headers: { 'content-type': 'text/csv' } }])
})

it('another status than expected is a failure that says which, with the first line of the body', async () => {
  const { url } = await serve((_, response) => {
    response.writeHead(503, { 'Retry-After': '7' })
    response.end('\n  down for \u0007maintenance\nmore')
  })
  const context = contextIn('/')
  const error = await failureOf(runHttp(http(`${url}/a?token=secret`), context))
  expect(error).toMatchObject({
    name: 'HttpError',
    message: `GET ${url}/a?… → 503 Service Unavailable: down for  maintenance`,
    status: 503,
    headers: { 'retry-after': '7' },
  })
  expect(context.logged.stdout).toContain('maintenance\nmore')
  expect(matchedBy(error)).toEqual(['server_error'])
  expect(retryAfterMs(error, 0)).toBe(7000)
})

it('a listed status is expected, and no other', async () => {
  const { url } = await serve((request, response) => {
    response.statusCode = Number(request.url?.slice(1))
    response.end('x')
  })
  const expecting = { expect: { status: [404, 201] } }
  expect(await runHttp(http(`${url}/404`, expecting), contextIn('/'))).toMatchObject({ status: 404, output: 'x' })
  expect(await failureOf(runHttp(http(`${url}/200`, expecting), contextIn('/')))).toMatchObject({ status: 200 })
})

it('follows redirects', async () => {
  const { url } = await serve((request, response) => {
    if (request.url === '/to') return response.end('there')
    response.writeHead(302, { location: '/to' })
    return response.end()
  })
  expect(await runHttp(http(`${url}/from`), contextIn('/'))).toMatchObject({ output: 'there', status: 200 })
})

const secretive = {
  method: 'POST',
  body: { card: '4111' },
  headers: { 'X-Api-Key': 'tok-123', Authorization: 'Bearer tok-123', Accept: 'text/csv' },
}

/** A server that redirects everything to another one, and the other one. */
async function redirecting(status: number): Promise<{ url: string; target: string; heard: Heard[] }> {
  const { url: target, heard } = await serve((_, response) => response.end('there'))
  const { url } = await serve((_, response) => response.writeHead(status, { location: `${target}/to` }).end())
  return { url, target, heard }
}

it.each([301, 302, 303])('a redirect (%d) to another origin takes neither headers nor body along', async (status) => {
  const { url, heard } = await redirecting(status)
  expect(await runHttp(http(url, secretive), contextIn('/'))).toMatchObject({ output: 'there' })
  expect(heard).toMatchObject([{ method: 'GET', url: '/to', body: '', headers: { accept: 'text/csv' } }])
  expect(JSON.stringify(heard)).not.toMatch(/tok-123|4111|idempotency/i)
})

it.each([307, 308])('a redirect (%d) of a body to another origin is refused with what allows it', async (status) => {
  const { url, target, heard } = await redirecting(status)
  const error = await failureOf(runHttp(http(url, secretive), contextIn('/')))
  expect(error).toMatchObject({ retryable: false })
  expect((error as Error).message).toContain(`redirect_origins: [${target}]`)
  expect(heard).toEqual([])
})

it('an origin that is named gets headers and body', async () => {
  const { url, target, heard } = await redirecting(307)
  const redirectOrigins = [`${target.toUpperCase().replace('HTTP', 'http')}/`]
  await runHttp(http(url, { ...secretive, redirectOrigins }), contextIn('/'))
  expect(heard).toMatchObject([{ method: 'POST', body: '{"card":"4111"}', headers: { 'x-api-key': 'tok-123' } }])
})

it('a redirect within the origin keeps headers and body, and a way back from another origin has neither', async () => {
  const { url: other } = await serve((_, response) => response.writeHead(302, { location: `${home.url}/to` }).end())
  const home = await serve((request, response) => {
    if (request.url === '/to') return response.end('there')
    return response.writeHead(307, { location: request.url === '/away' ? other : '/to' }).end()
  })
  await runHttp(http(`${home.url}/from`, secretive), contextIn('/'))
  expect(home.heard.at(-1)).toMatchObject({ method: 'POST', url: '/to', headers: { 'x-api-key': 'tok-123' } })
  await runHttp(http(`${home.url}/away`, { ...secretive, method: 'GET', body: null }), contextIn('/'))
  expect(home.heard.at(-1)).toMatchObject({ method: 'GET', url: '/to' })
  expect(home.heard.at(-1)?.headers).not.toHaveProperty('x-api-key')
})

it('redirects in a circle end, and one to another protocol is refused', async () => {
  const { url, heard } = await serve((request, response) =>
    response.writeHead(302, { location: request.url === '/file' ? 'file:///etc/passwd' : '/round' }).end(),
  )
  expect(await failureOf(runHttp(http(url), contextIn('/')))).toMatchObject({
    message: expect.stringMatching(/more than 20 redirects/) as string,
  })
  expect(heard.length).toBe(21)
  expect(await failureOf(runHttp(http(`${url}/file`), contextIn('/')))).toMatchObject({ retryable: false })
})

it('a redirect that is expected is the answer', async () => {
  const { url } = await serve((_, response) => response.writeHead(302, { location: '/to' }).end('moved'))
  expect(await runHttp(http(url, { expect: { status: [302] } }), contextIn('/'))).toMatchObject({ status: 302 })
})

it('a refused connection keeps the code of the system', async () => {
  const server = createTcpServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const closed = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await new Promise((resolve) => server.close(resolve))
  const error = await failureOf(runHttp(http(`${closed}/x?k=secret`), contextIn('/')))
  expect(error).toMatchObject({ name: 'HttpError', code: 'ECONNREFUSED', cause: { message: 'fetch failed' } })
  expect((error as Error).message).toMatch(/^GET http:\/\/127\.0\.0\.1:\d+\/x\?…: connect ECONNREFUSED/)
  expect(matchedBy(error)).toEqual(['network'])
})

it('a connection that is reset before or within the answer is a failure of the network', async () => {
  const { url } = await serve((request, response) => {
    if (request.url === '/before') return response.socket?.destroy()
    response.write('begun')
    return setImmediate(() => response.socket?.destroy())
  })
  for (const place of ['/before', '/within']) {
    const error = await failureOf(runHttp(http(url + place), contextIn('/')))
    expect(error, place).toMatchObject({
      name: 'HttpError',
      code: expect.stringMatching(/UND_ERR_SOCKET|ECONNRESET/) as string,
    })
    expect(matchedBy(error), place).toEqual(['network'])
  }
})

it('an answer that is no HTTP is a failure', async () => {
  const server = createTcpServer((socket) => socket.end('hello\r\n\r\n'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onEnd(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  expect(await failureOf(runHttp(http(url), contextIn('/')))).toMatchObject({ name: 'HttpError' })
})

it('the signal ends a request that waits for its answer, and one that waits for the rest of it', async () => {
  const { url } = await serve((request, response) => {
    if (request.url === '/slow') response.write('a')
  })
  for (const place of ['/never', '/slow']) {
    const controller = new AbortController()
    const reason = new Error('enough')
    const running = runHttp(
      http(url + place),
      contextIn(
        '/',
        {},
        {
          signal: controller.signal,
          log: (stream) => void (stream === 'stdout' && controller.abort(reason)),
        },
      ),
    )
    if (place === '/never') setTimeout(() => controller.abort(reason), 50)
    expect(await failureOf(running)).toBe(reason)
  }
})

it('a body longer than may be captured is refused, and not read to its end', async () => {
  let sent = 0
  const { url } = await serve((_, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(64 * 1024, 'x'))) sent += 64 * 1024
      if (!response.destroyed) response.once('drain', more)
    }
    more()
  })
  const error = await failureOf(runHttp(http(url), contextIn('/', {}, { captureBytes: 200_000 })))
  expect(error).toMatchObject({ name: 'CaptureError', message: expect.stringContaining('200000 bytes') as string })
  expect(sent).toBeLessThan(64 * 1024 * 1024)
})

it('a body that is not captured goes to the log whole, at the pace of the log', async () => {
  const size = 8 * 1024 * 1024
  const { url } = await serve((_, response) => response.end(Buffer.alloc(size, 'y')))
  let logged = 0
  let isWriting = false
  const context = contextIn(
    '/',
    {},
    {
      captureBytes: 0,
      log: async (stream, bytes) => {
        expect(isWriting).toBe(false)
        isWriting = true
        await new Promise((resolve) => setImmediate(resolve))
        isWriting = false
        if (stream === 'stdout') logged += bytes.length
      },
    },
  )
  expect(await runHttp(http(url), context)).toEqual({ output: '', exitCode: 0, status: 200 })
  expect(logged).toBe(size)
})

it('an endless body of a failure is given up', async () => {
  const { url } = await serve((_, response) => {
    response.statusCode = 500
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(64 * 1024, 'z')));
      if (!response.destroyed) response.once('drain', more)
    }
    more()
  })
  const error = await failureOf(runHttp(http(url), contextIn('/')))
  expect(error).toMatchObject({ status: 500 })
  expect((error as Error).message.length).toBeLessThan(400)
})

it('credentials of the address are sent as a header, and shown nowhere', async () => {
  const { url, heard } = await serve((_, response) => {
    response.statusCode = 401
    response.end()
  })
  const context = contextIn('/')
  const error = await failureOf(runHttp(http(url.replace('//', '//me:p%40ss@')), context))
  expect(heard[0]?.headers.authorization).toBe(`Basic ${Buffer.from('me:p@ss').toString('base64')}`)
  expect(JSON.stringify([error, (error as Error).message, (error as Error).stack, context.logged])).not.toMatch(
    /p@ss|p%40ss/,
  )
})

it.each([
  ['no address', { url: 'example' }, /"example" is not an address/],
  ['no address, with credentials', { url: 'ht tp://me:pass@host?q=secret' }, /"…@host\?…" is not an address/],
  ['another protocol', { url: 'file:///etc/passwd' }, /not an address of the web/],
  ['a body to GET', { url: 'http://localhost', body: 'x' }, /GET request has no body/],
  [
    'a line break in a header',
    { url: 'http://localhost', headers: { 'x-a': 'a\r\nx-b: secret' } },
    /the header `x-a` holds/,
  ],
  ['a method that is none', { url: 'http://localhost/', method: 'TRACE' }, /TRACE http:\/\/localhost\/: .*TRACE/],
  ['a port of another protocol', { url: 'http://localhost:22/' }, /GET http:\/\/localhost:22\/: the port belongs to/],
  ['a missing value', { url: 'http://localhost/${nope}' }, /`\$\{nope\}`: there is no `nope`/],
])('%s is refused before anything is sent, and not tried again', async (_, changes, message) => {
  const error = await failureOf(runHttp(http('', changes), contextIn('/')))
  expect(error).toMatchObject({ retryable: false })
  expect((error as Error).message).toMatch(message)
  expect((error as Error).message).not.toContain('secret')
})
