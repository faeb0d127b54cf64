/**
 * A pipeline that is killed in the middle, and goes on: three orders are charged, packed and announced. The program starts
 * itself as a worker, which kills its own process with SIGKILL when a parcel is packed, and again when a mail is out: both
 * before anybody could write it down. What really happened is logged beside. Start it with `npm run example:durable`.
 */
import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { openDurable } from 'reprise/durable'

type Order = { readonly number: number; readonly cents: number }

const ORDERS: readonly Order[] = [
  { number: 1, cents: 1900 },
  { number: 2, cents: 4250 },
  { number: 3, cents: 800 },
]

const directory = process.env['ORDERS'] ?? mkdtempSync(path.join(tmpdir(), 'reprise-orders-'))
const world = path.join(directory, 'world.log')

if (process.env['ORDERS'] === undefined) supervise()
else await work()

/** What a supervisor does: starts the worker until it ends by itself. */
function supervise(): void {
  writeFileSync(world, '')
  for (let start = 1; ; start++) {
    console.log(`\nstart ${start}`)
    const env = { ...process.env, ORDERS: directory }
    const args = [...process.execArgv, fileURLToPath(import.meta.url)]
    const { signal, status } = spawnSync(process.execPath, args, { env, stdio: 'inherit' })
    if (signal === null) break
    if (status !== null || start === 10) throw new Error('That was not planned')
    console.log(`  ✗ killed with ${signal}`)
  }
  const effects = readFileSync(world, 'utf8').split('\n').filter(Boolean)
  console.log('\nwhat really happened')
  for (const kind of ['charge', 'pack', 'mail']) {
    const done = effects.filter((effect) => effect.startsWith(`${kind} `))
    console.log(`  ${kind.padEnd(6)} ${done.length} times for ${new Set(done).size} orders`)
  }
  rmSync(directory, { recursive: true })
}

async function work(): Promise<void> {
  const durable = await openDurable(`sqlite:${path.join(directory, 'orders.db')}`)

  /** The bank books a key once, however often it is asked: the way to make an effect safe to repeat. */
  const charge = durable.task('charge', { attempts: 5, initialDelay: '20ms' }, (order: Order, context) => {
    say(order, `charge, attempt ${context.attempt}`)
    if (context.attempt <= order.number - 1) throw new Error('the bank is busy')
    happensOnce('charge', context.idempotencyKey)
    return { receipt: `R-${order.number}` }
  })

  /** Packing twice is harmless: it simply runs again. */
  const pack = durable.task('pack', { attempts: 3 }, (order: Order, { execution, idempotencyKey }) => {
    say(order, `pack, execution ${execution}`)
    happens('pack', idempotencyKey)
    if (order.number === 2) dieOnce('after-packing')
    return { parcel: `P-${order.number}` }
  })

  /** Nobody wants the same mail twice, so after an interruption the program looks whether it is out. */
  const mail = durable.task(
    'mail',
    { attempts: 3 },
    (order: Order, { idempotencyKey }): string => {
      say(order, 'mail')
      happens('mail', idempotencyKey)
      if (order.number === 3) dieOnce('after-mailing')
      return 'sent'
    },
    {
      onInterrupt: {
        verify: (order: Order, { idempotencyKey }) => {
          const isOut = readFileSync(world, 'utf8').includes(`mail ${idempotencyKey}`)
          say(order, `was the mail sent? ${isOut ? 'yes: it is not sent again' : 'no'}`)
          return isOut ? { done: 'sent' } : 'rerun'
        },
      },
    },
  )

  const { resumed } = await durable.resume()
  if (resumed > 0) console.log(`  takes over ${resumed} from the process that died`)
  for (const order of ORDERS) {
    const id = `order-${order.number}`
    const { receipt } = await charge.run(order, { id })
    const { parcel } = await pack.run(order, { id })
    await mail.run(order, { id })
    say(order, `done: ${receipt}, ${parcel}`)
  }
  await durable.close()
}

function say({ number }: Order, what: string): void {
  console.log(`  order ${number}: ${what}`)
}

function happens(kind: string, key: string): void {
  appendFileSync(world, `${kind} ${key}\n`)
}

function happensOnce(kind: string, key: string): void {
  if (!readFileSync(world, 'utf8').includes(`${kind} ${key}\n`)) happens(kind, key)
}

/** The first time it gets here, this process ends as by `kill -9`. */
function dieOnce(where: string): void {
  const mark = path.join(directory, where)
  if (existsSync(mark)) return
  writeFileSync(mark, '')
  process.kill(process.pid, 'SIGKILL')
}
