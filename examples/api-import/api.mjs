/**
 * The stand-in for both APIs. It fails by plan: 503, then a lost connection, then it answers; page 2 is a 429 with
 * `Retry-After` first; an import takes effect, but its answer does not arrive.
 *
 *   node api.mjs npx reprise run workflow.yaml    runs a command, which finds the address in API_URL, and ends with it
 *   node api.mjs                                  says where it is, and stays
 */
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'

const TOKEN = process.env.API_TOKEN ?? 'not-a-real-token'
const ORDERS = Array.from({ length: 12 }, (_, index) => ({ id: `order-${index + 1}`, cents: 500 + 100 * index }))

const asked = new Map()
const imports = new Map()

function answer(request, body) {
  const { pathname, searchParams } = new URL(request.url, 'http://api')
  const route = `${request.method} ${pathname}${searchParams.get('page') ?? ''}`
  const count = (asked.get(route) ?? 0) + 1
  asked.set(route, count)
  if (request.headers.authorization !== `Bearer ${TOKEN}`) return { status: 401, body: { error: 'who are you?' } }
  switch (route) {
    case 'GET /orders1':
      if (count === 1) return { status: 503, body: { error: 'starting up' } }
      if (count === 2) return 'hang up'
      return { status: 200, body: { orders: ORDERS.slice(0, 6), next: '/orders?page=2' } }
    case 'GET /orders2':
      if (count === 1) return { status: 429, headers: { 'retry-after': '1' }, body: { error: 'slow down' } }
      return { status: 200, body: { orders: ORDERS.slice(6), next: null } }
    case 'POST /imports':
      return importOnce(request.headers['idempotency-key'], JSON.parse(body), count)
    case 'GET /imports/count':
      return { status: 200, body: imports.size }
    default:
      return { status: 404, body: { error: `there is no ${route}` } }
  }
}

/** The same key again is the same import, and gets the same answer. */
function importOnce(key, { orders }, count) {
  if (!imports.has(key)) imports.set(key, { id: `import-${imports.size + 1}`, orders: orders.length })
  return count === 1 ? 'hang up' : { status: 201, body: imports.get(key) }
}

const server = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', (text) => (body += text))
  request.on('end', () => {
    const said = answer(request, body)
    if (said === 'hang up') return request.socket.destroy()
    response.writeHead(said.status, { 'content-type': 'application/json', ...said.headers })
    response.end(JSON.stringify(said.body))
  })
})

server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  const url = `http://127.0.0.1:${server.address().port}`
  const [program, ...args] = process.argv.slice(2)
  if (program === undefined) return console.log(url)
  const env = { ...process.env, API_URL: url, API_TOKEN: TOKEN }
  const child = spawn(program, args, { stdio: 'inherit', env })
  // Both get a Ctrl-C; the command decides what it means.
  process.on('SIGINT', () => undefined)
  child.on('exit', (code) => process.exit(code ?? 1))
})
