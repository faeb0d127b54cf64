/** One process of floor or library: `own-child.js floor|library JSON`. Imports both. */
import pg from 'pg'
import { perform } from './acts.mjs'
import { Floor } from './floor.js'
import { Library } from './library.js'

const [who = '', argument] = process.argv.slice(2)

const DONE = {
  floor: `SELECT count(*)::int AS n FROM floor.tasks WHERE status = 'succeeded'`,
  library: `SELECT count(*)::int AS n FROM reprise.tasks WHERE status = 'succeeded'`,
}

async function counterOf(url: string, sql: string): Promise<() => Promise<number>> {
  const client = new pg.Client(url)
  await client.connect()
  return async () => (await client.query<{ n: number }>(sql)).rows[0]?.n ?? 0
}

const contenders = {
  floor: {
    open: ({ url }: { url: string }) => Floor.open(url),
    counter: ({ url }: { url: string }) => counterOf(url, DONE.floor),
  },
  library: {
    open: (ask: { url: string; width?: number }) => Library.open(ask),
    counter: ({ url }: { url: string }) => counterOf(url, DONE.library),
  },
}
if (who !== 'floor' && who !== 'library') throw new Error(`No such contender: ${who}`)
await perform(contenders[who], argument)
